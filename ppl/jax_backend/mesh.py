"""A posterior whose rows of data are spread over all devices that JAX has, of one process or of many.

Each device has a part of the rows and all of the parameters. It computes the terms of its rows with their
gradient, and one all-reduce sums them: what is sent has one number a point and parameter, however many rows
there are. Terms without rows, and fewer rows than there are devices, which are left over, every device
computes for itself. What comes back is the same on every process, so that all go the same way from there.
"""

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import compress
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.multihost_utils import process_allgather
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ppl.data import Inputs, with_arrays
from ppl.data.shares import Partition, Rows
from ppl.density.compiled_program import CompiledProgram
from ppl.density.rows import ByRows
from ppl.density.sharded import row_files
from ppl.jax_backend.batches import BatchDensity, CompiledByRows, rows_and_rest, rows_at_once
from ppl.jax_backend.data import DataShape, Static, is_argument, shape_of, split
from ppl.jax_backend.density import Density, Functions, as_one
from ppl.jax_backend.jit import CompileProfile
from ppl.jax_backend.not_traceable import NotTraceable
from ppl.jax_backend.target import CompiledTarget, first_traceable, profile_for
from ppl.kernel.density.layout import Data
from ppl.kernel.emit.load import Emitted
from ppl.records import dataclass

ROWS = "rows"
"""The one axis of the mesh."""
EACH, ALL = PartitionSpec(ROWS), PartitionSpec()
"""A part for each device, along the first axis; the same for all."""


def mesh_of(platform: str) -> Mesh:
    """All devices of a platform, "cpu" or "gpu", those of a process beside each other."""
    devices = sorted(jax.devices(platform), key=lambda device: (device.process_index, device.id))
    return Mesh(np.array(devices), (ROWS,))


def own_parts(mesh: Mesh) -> list[int]:
    """The places of this process's devices in the mesh."""
    return [k for k, device in enumerate(mesh.devices) if device.process_index == jax.process_index()]


def with_own_rows(model: CompiledProgram, inputs: Inputs, files: Mapping[str, str], platform: str) -> Inputs:
    """The inputs, and variables from files, of which each process reads only the rows of its devices.

    The rows are the first axis of the variables with the size that most rows have; others are read whole.

    Raises:
        DataError: a file cannot be read; a variable is given twice.
    """
    mesh = mesh_of(platform)
    if jax.process_count() == 1:
        return with_arrays(inputs, files)
    sizes = dict(row_files(model.lowered, files))
    size = max(sorted(set(sizes.values())), key=lambda s: inputs.values.get(s, 0), default=None)
    by_rows = {name: file for name, file in files.items() if sizes.get(name) == size}
    whole = {name: file for name, file in files.items() if name not in by_rows}
    own = own_parts(mesh)
    parts = range(own[0], own[-1] + 1)
    return with_arrays(with_arrays(inputs, whole), by_rows, lambda n: Partition(n, mesh.size).own(parts))


class OverDevices(Functions):
    """A log joint of which each device computes a part; arguments are a pair, of each device's and of all's.

    An array of a device's is one with a first axis of the devices.
    """

    mesh: Mesh

    @abstractmethod
    def for_all(self, shape: Any, jacobian: bool, shared: Any, u: Any) -> Any:
        """The terms that every device computes, at u (dim,), traced."""

    @abstractmethod
    def of_device(self, shape: Any, own: Any, shared: Any, u: Any) -> Any:
        """The terms that are one device's."""

    def log_joint(self, shape: Any, jacobian: bool, arguments: Any, u: Any) -> Any:
        own, shared = arguments
        return self.for_all(shape, jacobian, shared, u) + self._summed(
            partial(self.of_device, shape), own, shared, u
        )

    def _value_and_gradient(self, shape: Any, jacobian: bool, arguments: Any, u: Any) -> Any:
        """As one array (1 + dim,), so that there is one sum over the devices."""
        own, shared = arguments
        of_device = jax.value_and_grad(partial(self.of_device, shape), argnums=2)
        for_all = jax.value_and_grad(partial(self.for_all, shape, jacobian), argnums=1)
        sums = self._summed(lambda *args: as_one(*of_device(*args)), own, shared, u)
        return sums + as_one(*for_all(shared, u))

    def _summed(self, f: Callable[..., Any], own: Any, shared: Any, u: Any) -> Any:
        """f of each device's arguments, summed over all of them."""

        def on_device(own: Any, shared: Any, u: Any) -> Any:
            mine = jax.tree_util.tree_map(lambda x: x[0], own)
            return jax.lax.psum(f(mine, shared, u), ROWS)

        spread = jax.shard_map(
            on_device, mesh=self.mesh, in_specs=(EACH, ALL, ALL), out_specs=ALL, check_vma=False
        )
        return spread(own, shared, u)


@dataclass(frozen=True, eq=False)
class MeshDensity(OverDevices):
    """The target on all rows; the shape is that of a part, of the rows left over (or None), of the rest."""

    rows: Density
    rest: Density
    mesh: Mesh
    profile: CompileProfile = CompileProfile.STANDARD

    def for_all(self, shape: Any, jacobian: bool, shared: Any, u: Any) -> Any:
        _, of_left, of_rest = shape
        left, rest = shared
        value = self.rest.log_joint(of_rest, jacobian, rest, u)
        return value if of_left is None else value + self.rows.log_joint(of_left, False, left, u)

    def of_device(self, shape: Any, own: Any, shared: Any, u: Any) -> Any:
        return self.rows.log_joint(shape[0], False, own, u)


@dataclass(frozen=True, eq=False)
class MeshBatchDensity(OverDevices, BatchDensity):
    """The rest of the target plus n_rows / B times the terms of B rows, each computed where it lies.

    A device has as many places as most batches need, and counts those that are taken.
    """

    mesh: Mesh
    partition: Partition

    def for_all(self, shape: Any, jacobian: bool, shared: Any, u: Any) -> Any:
        return self.rest.log_joint(shape[1], jacobian, shared[0], u)

    def of_device(self, shape: Any, own: Any, shared: Any, u: Any) -> Any:
        whole, (rows, at, counts) = own
        of_rows, _, n_rows = shape

        def of_row(row: Any, at: Any) -> Any:
            return self.some_terms(of_rows, n_rows, whole, u, row[None], at[None])

        terms = jnp.where(counts, jax.vmap(of_row)(rows, at), 0.0)
        return n_rows / shared[1] * terms.sum()

    def on_rows(self, arguments: Any, rows: Any) -> Any:
        """The arguments for other rows (B,), or (k, B) for k iterations."""
        (whole, _), (rest, _) = arguments
        return (whole, places(self.partition, rows)), (rest, np.full(rows.shape[:-1], rows.shape[-1], float))

    def at(self, arguments: Any, k: Any) -> Any:
        (whole, chosen), (rest, counted) = arguments
        return (whole, tuple(x[k] for x in chosen)), (rest, counted[k])


def places(partition: Partition, rows: Rows) -> tuple[Any, Any, Any]:
    """Rows (..., B) as they lie on devices: row, place, whether it counts, each (..., devices, room)."""
    batches = rows.reshape(-1, rows.shape[-1])
    part, at = partition.owner_of(batches)
    most = max(int(np.bincount(p, minlength=partition.parts).max()) for p in part)
    room = room_for(rows.shape[-1], partition.parts, most)
    table = np.zeros((3, len(batches), partition.parts, room), dtype=np.int64)
    for k, order in enumerate(np.argsort(part, axis=1, kind="stable")):
        owner = part[k, order]
        slot = np.arange(owner.size) - np.searchsorted(owner, owner)
        for array, values in zip(table[:, k], (batches[k, order], at[k, order], 1), strict=True):
            array[owner, slot] = values
    table[0] += (1 - table[2]) * (np.arange(partition.parts) * partition.size)[:, None]  # a row it has
    row, place, counts = table.reshape(3, *rows.shape[:-1], partition.parts, room)
    return row, place, counts.astype(bool)


def room_for(batch: int, parts: int, most: int) -> int:
    """Places for a part's share of a batch: all but a few in a million batches fit; else as many as `most`.

    That is six standard deviations above the mean of the hypergeometric share, which a binomial one bounds.
    """
    usual = batch if parts == 1 else min(batch, int(batch / parts + 6 * (batch / parts) ** 0.5) + 1)
    return max(usual, most)


# --- Data on the devices ------------------------------------------------------------------------------


def to_all(mesh: Mesh, arguments: Any) -> Any:
    """Arrays that every device has as they are."""
    put = partial(jax.make_array_from_process_local_data, NamedSharding(mesh, ALL))
    return jax.tree_util.tree_map(lambda x: put(np.asarray(x)), arguments)


def to_each(
    mesh: Mesh, data: Sequence[Data], emitted: Emitted, names: Collection[str], baked: str
) -> tuple[DataShape, list[Any]]:
    """The data of these names of this process's devices as one shape, equal on all, and arrays of the mesh.

    Of the kinds `baked`, and of plain numbers, what is equal on all devices becomes part of the shape.

    Raises:
        NotTraceable: the data of two devices differ in shape.
    """
    named = [{name: value for name, value in vars(d).items() if name in names} for d in data]
    flat = [jax.tree_util.tree_flatten_with_path(values) for values in named]
    leaves, structure = [[leaf for _, leaf in with_paths] for with_paths, _ in flat], flat[0][1]
    paths = [path[0].key for path, _ in flat[0][0]]
    if not alike([[digest(str(tree))] for _, tree in flat]).all():
        raise NotTraceable("its data give different variables on different devices")
    same_shape = alike([[digest(np.shape(x), np.asarray(x).dtype.str) for x in of] for of in leaves])
    if not same_shape.all():
        raise NotTraceable(why_other_shape(emitted, paths[int(np.argmin(same_shape))]))
    passed = [is_argument(x, baked) for x in leaves[0]]
    inside = [
        [0 if p else digest(Static.of(x).key) for x, p in zip(of, passed, strict=True)] for of in leaves
    ]
    passed = [p or not same for p, same in zip(passed, alike(inside), strict=True)]
    put = partial(jax.make_array_from_process_local_data, NamedSharding(mesh, EACH))
    arrays = [put(np.stack(of)) for of in compress(zip(*leaves, strict=True), passed)]
    return shape_of(data[0], structure, leaves[0], passed), arrays


def digest(*values: Any) -> int:
    """The same number for the same values in every process."""
    return int.from_bytes(hashlib.sha256(repr(values).encode()).digest()[:7])


def alike(own: Sequence[Sequence[int]]) -> Any:
    """Whether each number is the same for all devices of all processes; one row a device of this one."""
    every = np.asarray(process_allgather(np.array(own, dtype=np.int64).reshape(len(own), -1)))
    every = every.reshape(-1, every.shape[-1])
    return (every == every[0]).all(axis=0)


# --- Targets ------------------------------------------------------------------------------------------


def over_mesh(batches: ByRows, mesh: Mesh, jacobian: bool = True, quick: bool = False) -> CompiledTarget:
    """The posterior of all rows, spread over the devices of a mesh.

    Raises:
        NotTraceable: the program cannot be run so; the message says why, and where.
    """
    partition, rows, rest = partition_of(batches, mesh)
    data = [batches.minibatch(partition.part(k)).data for k in own_parts(mesh)]
    left = batches.minibatch(partition.left).data if partition.left.size else None
    of_part, is_sharded = batches.width_of(partition.size), batches.posterior.model.compilation.sharded
    density = MeshDensity(rows, rest, mesh, profile_for(of_part, quick))

    def place_data(baked: str) -> tuple[Any, Any]:
        own_shape, own = to_each(mesh, data, rows.code.emitted, rows.reads, baked)
        of_left, for_left = split(left, rows.reads, baked) if left else (None, [])
        of_rest, for_rest = split(batches.rest.d, rest.reads, baked)
        return (own_shape, of_left, of_rest), (own, to_all(mesh, (for_left, for_rest)))

    shape, arguments = first_traceable(density, place_data, batches.dim, jacobian)
    width = batches.width_of(batches.n_rows) if is_sharded else batches.posterior.width
    return CompiledTarget(batches.posterior, density, shape, arguments, width, jacobian, part_width=of_part)


def batches_over_mesh(batches: ByRows, mesh: Mesh) -> CompiledByRows:
    """The posterior a few rows at a time, each device with those of the batch that lie on it.

    Raises:
        NotTraceable: as `over_mesh`.
    """
    partition, rows, rest = partition_of(batches, mesh)
    own = [np.concatenate([partition.part(k), partition.left]) for k in own_parts(mesh)]
    data = [batches.minibatch(rows).cut for rows in own]
    density = MeshBatchDensity(rows, rest, batches.split, rows_at_once(batches), mesh, partition)
    first = np.arange(min(2, batches.n_rows))

    def place_data(baked: str) -> tuple[Any, Any]:
        of_rows, own = to_each(mesh, data, rows.code.emitted, rows.code.emitted.loads, baked)
        of_rest, for_rest = split(batches.rest.d, rest.reads, baked)
        shape = of_rows, of_rest, batches.n_rows
        return shape, density.on_rows(((own, None), (to_all(mesh, for_rest), None)), first)

    shape, arguments = first_traceable(density, place_data, batches.dim)
    batch = CompiledTarget(batches.posterior, density, shape, arguments, batches.dim)
    return CompiledByRows(batch, batches, over_mesh(batches, mesh))


def partition_of(batches: ByRows, mesh: Mesh) -> tuple[Partition, Density, Density]:
    """How the rows are shared out, their terms and the others."""
    partition = Partition(batches.n_rows, mesh.size)
    if not partition.size:
        raise NotTraceable(f"it has {batches.n_rows} rows, fewer than the {mesh.size} devices")
    return partition, *rows_and_rest(batches)


def why_other_shape(emitted: Emitted, name: str) -> str:
    """That what is computed of the rows has another size on each device, with the line of the program."""
    lines = (k for k, line in enumerate(emitted.text.split("\n")) if line.lstrip().startswith(f"{name} = "))
    place = next((emitted.spans[k] for k in lines), None)
    where = f"line {place.line}, " if place else ""
    return f"{where}the data determine which rows it visits, and their number differs between devices"
