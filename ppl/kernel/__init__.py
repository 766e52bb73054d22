"""Text -> log joint -> ADVI -> CSV: what all of `ppl` is built around, complete in itself.

It imports the standard library that programs call (`ppl.stdlib`), and below it arrays, types and errors;
nothing else of the package. Read it in this order, an afternoon for all of it:

1. `variational.py`: the whole way in one file.
2. `language/`: `ast.py`; `lalr.py`, `builder.py` and `parser.py`, text to tree; `check.py`, then
   `statements.py`, `expressions.py`, `calls.py`; `facts.py`, what is known of a tree; `messages.py`, errors.
3. `ir/`: `nodes.py`; `lower.py`, `lower_stmt.py`, `lower_expr.py`, tree to IR; `walk.py`; `printer.py`.
4. `emit/`: `emit.py`, `emit_stmt.py`, `emit_expr.py`, IR to Python text; `load.py`, text to functions;
   `library.py`, `runtime.py` and `entries.py`, what these functions call.
5. `density/`: `reading.py`, data as a program declares them; `layout.py`, where each parameter lies in the
   unconstrained vector `u`; `log_density.py`, the log joint with its gradient.
6. `advi/`: `target.py`, all that inference knows of a program; `algorithm_1.py`; the parts, each a module of
   `families/`, `estimators/`, `steps/` or `stopping/`; `elbo.py`, the ELBO and the draws of q it is of;
   `optimise.py`, the one stochastic loop; `eta_search.py`; `outcome.py`, how a run ends.
7. `draws/`: `names.py`, `columns.py`, `stan_csv.py`.

What plugs in around it: passes, between `ir` and `emit` (`ppl/optimise`); explanations of syntax errors, as a
`Reader` of `language.check` (`ppl/programs`); solvers, as `Code.solve` (`ppl/optimise/solve.py`); data from
files, as another reader than `density.reading` (`ppl/data`); densities at many points and of rows, as targets
(`ppl/density`); other algorithms, as recipes over the same parts (`ppl/methods/recipes`).
"""
