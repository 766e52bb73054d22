"""Longer pages of `ppl docs`, by their word, in lines of 80 columns."""

MACHINES = """\
Beyond one machine

If one machine is too small or too slow for the rows of data, run the fit in
several processes. Each process reads its own rows and computes their terms of
the target. One sum over all processes, by JAX's distributed runtime, gives each
the same log density and gradient. All processes then run the same algorithm:
ELBO, refinement, resampling, annealing, verdict and draws equal those of one
process, up to rounding. Process 0 writes the files.

To start them manually, run on every machine, with the process number I from 0:

  ppl variational m.model d.json --data x=x.npy --data y=y.npy \\
      --coordinator node1:9000 --processes 4 --process I

Under SLURM (Open MPI and Kubernetes are also detected):

  #!/bin/bash
  #SBATCH --nodes=4 --ntasks-per-node=1 --cpus-per-task=16 --time=1:00:00
  srun ppl variational m.model d.json \\
      --data x=rows/:x1,x2,x3 --data y=rows/:y --hosts 4 -o fit.csv

In two containers, with Docker Compose. Each reads its rows from the shared
folder, which also contains the wheel written by `pip wheel CHECKOUT`. The name
of the first is the address of process 0:

  services:
    first: &node
      image: python:3.12
      working_dir: /work
      volumes: [".:/work"]
      environment: {PROCESS: "0"}
      command: >
        sh -c "pip install -q ./ppl_vi-*.whl 'jax>=0.8' &&
        exec ppl variational m.model d.json
        --data x=x.npy --data y=y.npy --coordinator first:9000
        --processes 2 --process $$PROCESS"
    second:
      <<: *node
      environment: {PROCESS: "1"}

From Python, before JAX is used for anything else:

  first = ppl.join("node1:9000", processes=4, process=i)  # or ppl.join()
  fit = posterior.variational(sharded=True)
  if first:
      fit.save_csv("fit.csv")

`--sharded` alone distributes the rows over the devices of one process, such as
several GPUs. If the number of rows is not a multiple of the number of devices,
every device computes the remaining rows. Minibatches contain the same rows as
on one process.

On one machine, `--cores N` sets how many runs of `--runs`, or batches of points
under JAX, are computed in parallel. The default is all cores; the draws do not
depend on it. Executables of `ppl build` use CmdStan's `num_threads`. Within one
evaluation, JAX distributes large arrays over the cores, with or without
`reduce_sum`. Autograd uses one core: `reduce_sum` is computed as a whole, with
the same numbers for any grainsize, and `map_rect` one shard after another.

Data. A variable with its own file (--data NAME=FILE) is read in parts: .npy by
slices, .parquet by row groups, a folder of .parquet files in order of their
names, .arrow by batches. The path must be valid on every machine. Parquet and
Arrow files may be in an object store, given by URL (--data
x=s3://bucket/rows/:x1,x2): s3, gs, abfs and hdfs by Arrow, other schemes by
fsspec. Every process reads JSON files whole.

Limits. The target must be a sum over rows, as for --minibatch, and the rows of
a statement may not depend on the data. Transformed data, transformed parameters
and generated quantities that use variables read in parts are rejected with the
line. --runs and --backend autograd are not supported. Use processors of one
kind, because all processes must reach the same decisions.

If a process dies, the others end with exit status 3 and a message that names
it, at once or within about 20 seconds (10 without a heartbeat). If process 0
dies, JAX aborts the others with SIGABRT. The same command with --resume, on any
number of processes, continues from the checkpoint of process 0, which is at
most 10 seconds old. Ctrl-C ends all.

Measured on two shared cores (minimum of 40; 22 November 2026):

  A gradient of a logistic regression of 1,000,000 x 20, one core a process:
  78 ms by one process, 58 ms by two (0.75). Each gradient sends one all-reduce
  of 22 doubles (176 bytes), one number more than there are parameters, for any
  number of rows.
  Memory of a fit of 4,000,000 x 20 from four Parquet files (640 MB): 1,407 MB
  by one process, 736 to 819 MB each by four (0.52 to 0.58), including about
  300 MB for Python, JAX and Arrow.
  Processes in separate network namespaces, as in containers, give the same fit.
  Not tested: GPUs, Docker, and networks between machines.

Estimated: 10^9 rows x 20 on 64 machines of 16 cores are 15.6 million rows each,
2.5 GB. At 78 ns per row and core a gradient takes 76 ms, and an all-reduce of
176 bytes well under a millisecond. Communication matters if the number of
parameters grows with the rows, or if a gradient takes under a millisecond."""

GUIDES = {"machines": MACHINES}
