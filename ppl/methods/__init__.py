"""Methods of inference on R^dim: paths to draws, their ending, evidence, verdict. Nothing of the language."""
