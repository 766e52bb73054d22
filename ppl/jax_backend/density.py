"""A program's log density under JAX, compiled once for all data of one shape."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp

from ppl.arrays import Namespace
from ppl.density.compiled_program import CompiledProgram
from ppl.jax_backend.data import DataShape
from ppl.jax_backend.iterations import jitted_iterations
from ppl.jax_backend.jit import CompileProfile, jitted
from ppl.jax_backend.namespace import JAX
from ppl.jax_backend.traceable import TracedRun, replacements
from ppl.kernel.density.layout import Data
from ppl.kernel.emit.load import BUILTINS, Code, Module, load
from ppl.optimise.forms import FOR_JAX, VALUES
from ppl.records import dataclass, replace

AnyFunction = Callable[..., Any]


class Functions(ABC):
    """Compiled functions of a log joint of (shape, jacobian, arguments, u); the first two are in the code.

    `profile` says how: LARGE_ARRAYS where they are, FAST for a single fit where they are small.
    """

    profile = CompileProfile.STANDARD

    @abstractmethod
    def log_joint(self, shape: Any, jacobian: bool, arguments: Any, u: Any) -> Any:
        """The log density at u (dim,), traced."""

    @cached_property
    def gradient(self) -> Any:
        """The log density at u (dim,) and its gradient there, as one array (1 + dim,); see `jitted`."""
        profile = CompileProfile.FASTEST if self.profile is CompileProfile.FAST else self.profile
        return jitted(self._at_a_point, 0, 1, profile=profile)

    @cached_property
    def values(self) -> AnyFunction:
        """The log density at each row of u (n, dim)."""
        return self._of_rows(self.log_joint)

    @cached_property
    def gradients(self) -> AnyFunction:
        """The same at each row of u (n, dim), (n, 1 + dim)."""
        return self._of_rows(self._at_a_point)

    @cached_property
    def gradients_alone(self) -> AnyFunction:
        """The gradient at each row of u (n, dim), (n, dim): XLA leaves out what only the value needs."""
        return self._of_rows(lambda *args: self._at_a_point(*args)[1:])

    def on_rows(self, arguments: Any, rows: Any) -> Any:
        """The arguments for other rows; the same where the target has no rows."""
        return arguments

    def at(self, arguments: Any, k: Any) -> Any:
        """The arguments of iteration k of a run."""
        return arguments

    @cached_property
    def iterate(self) -> AnyFunction:
        """Iterations of variational inference; see iterations.jitted_iterations."""
        return jitted_iterations(self._at_a_point, self.at, self.profile)

    @cached_property
    def _at_a_point(self) -> AnyFunction:
        """Value and gradient as a function that is traced once, whatever it is compiled in."""
        return jax.jit(self._value_and_gradient, static_argnums=(0, 1))

    def _value_and_gradient(self, shape: DataShape, jacobian: bool, arguments: list[Any], u: Any) -> Any:
        return as_one(*jax.value_and_grad(self.log_joint, argnums=3)(shape, jacobian, arguments, u))

    def _of_rows(self, f: AnyFunction) -> AnyFunction:
        def rows(shape: DataShape, jacobian: bool, arguments: list[Any], us: Any) -> Any:
            return jax.vmap(lambda u: f(shape, jacobian, arguments, u))(us)

        return jitted(rows, 0, 1, profile=self.profile)


def as_one(value: Any, gradient: Any) -> Any:
    return jnp.concatenate([value[None], gradient])


@dataclass(frozen=True, eq=False)
class Density(Functions):
    """The log density of one emitted module; shape and arguments are those of data.split."""

    code: Code
    profile: CompileProfile = CompileProfile.STANDARD

    @cached_property
    def by_profile(self) -> "Mapping[CompileProfile, Density]":
        """The same compiled with each profile, once."""
        return {e: self if e is self.profile else replace(self, profile=e) for e in CompileProfile}

    @property
    def reads(self) -> frozenset[str]:
        """The names of the data that the log joint reads."""
        return self.code.emitted.reads

    def log_joint(self, shape: DataShape, jacobian: bool, arguments: list[Any], u: Any) -> Any:
        """The log density at u (dim,), traced."""
        return log_joint_of(self.code, JAX, shape.with_arguments(arguments), u, jacobian)


def module_for(trace: TracedRun, code: Code, xp: Namespace, **more: AnyFunction) -> Module:
    """The emitted module for one trace."""
    builtins = {**BUILTINS, "range": trace.range}
    return load(code, xp, trace.counted, builtins, **replacements(trace), **more)


def log_joint_of(code: Code, xp: Namespace, d: Data, u: Any, jacobian: bool, **more: AnyFunction) -> Any:
    """The log density at u (dim,), traced; an error has the `span` of the program that it comes from."""
    trace = TracedRun()
    module = module_for(trace, code, xp, **more)
    try:
        density = module.log_joint(d, u, jacobian)
    except Exception as error:
        error.span = module.span_of(error)  # type: ignore[attr-defined]
        raise
    return trace.guarded(jnp.asarray(density, dtype=float))


def density_of(model: CompiledProgram) -> Density:
    """The log density of a model, made once."""
    return model.jax_cache.setdefault("density", Density(model.code_of(FOR_JAX)))


def prepared(model: CompiledProgram, d: Data) -> Data:
    """The data with what compiled code reads; those at hand, where it reads no more than NumPy does."""
    return model.prepared(d, FOR_JAX, VALUES)
