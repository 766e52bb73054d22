"""`method=generate_quantities`: the quantities at draws of an earlier run."""

from ppl.cmdstan.job import Job, read_rows
from ppl.cmdstan.outputs import files_of_chains
from ppl.errors import InferenceError
from ppl.results.fits.generate import generate


def run(job: Job) -> int:
    """Writes a row of quantities for each row of draws; like CmdStan, for the mean row of a fit too.

    Raises:
        InferenceError: the program generates nothing.
        DataError: the draws are not of the program's parameters.
    """
    chains = job["generate_quantities.num_chains"]
    file = job.file("generate_quantities.fitted_params")
    numbers = range(1, chains + 1)
    inputs, outputs = (files_of_chains(names, numbers) for names in (file, job["output.file"]))
    for chain, fitted, own in zip(numbers, inputs, outputs, strict=True):
        columns, rows = read_rows(fitted)
        table = generate(job.posterior, columns, rows, job.seed + chain - 1)
        if not table.columns:
            raise InferenceError("Model has no generated quantities, so there is nothing to generate.")
        if table.failed:
            print(f"{table.failed} of {len(table.rows)} rows are nan: {table.reason}")
        job.write_csv(table.columns, job.row_lines(table.rows), own)
    return 0
