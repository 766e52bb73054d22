"""One PyMC fit from data file to draws on disk: `python run_pymc.py REQUEST`, run by the peers' Python.

REQUEST is JSON: name, data, algorithm ("meanfield" or "fullrank"), iterations, seed, output.
"""

import json
import sys

import numpy as np
import pymc as pm
from pymc_models import MODELS

METHODS = {"meanfield": "advi", "fullrank": "fullrank_advi"}


def main():
    request = json.loads(sys.argv[1])
    with open(request["data"]) as file:
        values = {k: np.asarray(v) for k, v in json.load(file).items()}
    values = {k: v.item() if v.ndim == 0 else v for k, v in values.items()}
    with pm.Model():
        MODELS[request["name"]](**values)
        approximation = pm.fit(
            request["iterations"],
            method=METHODS[request["algorithm"]],
            random_seed=request["seed"],
            progressbar=False,
        )
    draws = approximation.sample(1000).posterior
    np.savetxt(request["output"], np.column_stack([np.reshape(v.values, (1000, -1)) for v in draws.values()]))
    print(json.dumps({"elbo": float(-np.mean(approximation.hist[-100:]))}))


if __name__ == "__main__":
    main()
