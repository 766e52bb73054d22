"""Longer pages of `ppl docs`, by their word, in lines of 80 columns."""

MACHINES = """\
Beyond one machine

A fit whose rows of data are too many for one machine, or too slow on it, is
spread over several processes: each reads its own rows, computes the terms of
the target that are theirs, and one sum over all processes, by JAX's distributed
runtime, gives each the same log density and gradient. From there all do the
same: ELBO, refinement, resampling, annealing, verdict and draws are those of
one process, to rounding. Process 0 writes the files.

By hand, on every machine, with the number I of the process from 0:

  ppl variational m.model d.json --data x=x.npy --data y=y.npy \\
      --coordinator node1:9000 --processes 4 --process I

Under SLURM (Open MPI and Kubernetes are detected as well):

  #!/bin/bash
  #SBATCH --nodes=4 --ntasks-per-node=1 --cpus-per-task=16 --time=1:00:00
  srun ppl variational m.model d.json \\
      --data x=rows/:x1,x2,x3 --data y=rows/:y --hosts 4 -o fit.csv

In two containers, by Docker Compose; each reads its rows from the folder that
they share, which also has the wheel that `pip wheel CHECKOUT` writes, and the
first one's name is the address of process 0:

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

`--sharded` alone spreads the rows over the devices of one process, such as
several GPUs. Rows that do not divide by the devices are left over, fewer than
there are devices, and every device computes them. A minibatch has the rows
that it has on one process, each computed where it lies.

On one machine, `--cores N` says how many runs of `--runs`, or under JAX how
many batches of points, are computed beside each other: all cores by default,
and the same draws for any number. `ppl build` executables take CmdStan's
`num_threads` for it. Within one evaluation JAX shares large arrays among the
cores, whether `reduce_sum` is written or not: of 200,000 rows each of two cores
has half of the work. Plain NumPy and autograd have one core: `reduce_sum` is
computed as a whole, with the same numbers for any grainsize, and `map_rect`
one shard after the other.

Data. A variable with a file of its own (--data NAME=FILE) is read by parts:
.npy by slices, .parquet by row groups, a folder of .parquet files in the order
of their names, .arrow by batches; the file, or the same file, is at that path
on every machine. Parquet and Arrow files may lie in an object store, by URL
(--data x=s3://bucket/rows/:x1,x2): s3, gs, abfs and hdfs by Arrow, other
schemes by fsspec. JSON is read, and kept, whole by every process.

What cannot be. The target must be a sum over rows, as for --minibatch; which
rows a statement goes through may not depend on the data. Of variables that are
read by parts nothing else can be computed: transformed data, transformed
parameters and generated quantities that read them are refused with the line.
--runs and --backend autograd do not go with it. Processors should be of one
kind: all processes have to come to the same decisions.

When a process dies, the others end with exit status 3 and a message that names
it: at once where it could still say why, else within some 20 seconds (10
without a heartbeat). Where process 0 dies, which keeps the list of all, JAX
ends the others by SIGABRT, with its own message. The same command with
--resume, on as many processes as before or others, goes on from the checkpoint
of process 0, which is at most 10 seconds old. Ctrl-C ends all.

Measured, on two cores that others used too (minimum of 40; 22 November 2026):

  A gradient of a logistic regression of 1,000,000 x 20, one core a process:
  78 ms by one process, 58 ms by two (0.75). Sent per gradient: one all-reduce
  of 22 doubles, 176 bytes, of 100,000 rows as of 1,000,000: one number more
  than there are parameters.
  Memory of a fit of 4,000,000 x 20 from four Parquet files (640 MB): 1,407 MB
  by one process, 736 to 819 MB each by four (0.52 to 0.58), of which some
  300 MB are Python, JAX and Arrow.
  Processes with network addresses of their own, in namespaces as containers
  have them, give the same fit; no GPU, no Docker and no network between
  machines has run it.

On paper: 10^9 rows x 20 on 64 machines of 16 cores are 15.6 million rows each,
2.5 GB, at 78 ns a row and core 76 ms a gradient; an all-reduce of 176 bytes
takes well under a millisecond, so that what is sent does not count. It does
where parameters grow with the rows, as effects of each row do, and where a
gradient takes less than a millisecond."""

GUIDES = {"machines": MACHINES}
