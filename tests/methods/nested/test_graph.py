"""Which coordinates meet is found by sets of them as one by one, by fewer gradients."""

import numpy as np
import pytest
from scipy import sparse

from ppl.kernel.advi.target import Target
from ppl.methods.nested.adjacency import LARGEST_BY_NUMPY, Graph
from ppl.methods.nested.graph import by_sets, graph_of, seeming_pairs, words
from ppl.methods.nested.sparse import Field
from ppl.methods.nested.structure import structure_of
from ppl.records import dataclass, field


def rng(seed=5):
    return np.random.default_rng(seed)


@dataclass(frozen=True, eq=False)
class Normal(Target):
    """A normal distribution with a sparse precision of these pairs; counts the points of its gradients."""

    graph: Graph
    asked: list[int] = field(default_factory=list)

    @property
    def dim(self):
        return self.graph.dim

    def log_density_gradients(self, us):
        self.asked.append(len(us))
        gradient = -(us @ (0.1 * self.graph.as_csr + sparse.eye_array(self.dim))).reshape(us.shape)
        return 0.5 * (us * gradient).sum(axis=1), gradient

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]


def chain(dim):
    return Graph.of_pairs(dim, np.arange(dim - 1), np.arange(1, dim))


def grid(rows, columns):
    at = np.arange(rows * columns).reshape(rows, columns)
    first, second = (
        np.concatenate([a.ravel(), b.ravel()]) for a, b in [(at[:-1], at[:, :-1]), (at[1:], at[:, 1:])]
    )
    return Graph.of_pairs(at.size, first, second)


def with_hubs(graph, *degrees):
    """The same and coordinates that meet so many others each."""
    size = graph.dim
    first, second = [
        np.concatenate(each)
        for each in zip(
            (graph.first, graph.second),
            *(
                (np.full(degree, size + k), rng(k).choice(size, degree, replace=False))
                for k, degree in enumerate(degrees)
            ),
            strict=True,
        )
    ]
    return Graph.of_pairs(size + len(degrees), first, second)


def same(one, other):
    return np.array_equal(one.as_csr.toarray(), other.as_csr.toarray())


GRAPHS = {
    "chain": chain(3000),
    "chain with hubs": with_hubs(chain(3000), 3000, 3000, 1500),
    "grid": grid(60, 70),
    "grid, some meet many": with_hubs(grid(50, 70), 3500, 120, 60),
    "blocks of four": Graph.of_matrix(np.kron(np.eye(500), np.ones((4, 4))).astype(bool)),
    "alone": Graph.of_matrix(np.zeros((2000, 2000), dtype=bool)),
}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_sets_tell_what_meets(graph):
    target = Normal(graph)
    found = by_sets(target, rng().normal(size=target.dim), rng())
    assert same(found, graph)
    assert sum(target.asked) < 0.5 * target.dim


def test_of_many_coordinates_that_all_meet_no_graph_is_found():
    dim = 1200
    target = Normal(Graph.of_matrix(np.ones((dim, dim), dtype=bool)))
    assert by_sets(target, rng().normal(size=dim), rng()) is None


def test_few_coordinates_are_moved_one_by_one():
    target = Normal(chain(40))
    assert same(graph_of(target, rng().normal(size=40), rng()), chain(40))
    assert sum(target.asked) == 40 + 2


def test_pairs_seem_to_meet_that_no_set_tells_apart():
    """Coordinates 0 and 1 meet, and 2 is in the same sets as 1."""
    sets = np.array([[1, 0, 0], [0, 1, 1]], dtype=bool)
    responded = np.array([[1, 1, 0], [1, 1, 1]], dtype=bool)
    first, second = seeming_pairs(sets, responded, 2, 0)
    assert list(zip(first, second, strict=True)) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert seeming_pairs(sets, responded, 1, 1) and seeming_pairs(sets, responded, 1, 0) is None


def test_seeming_pairs_of_several_words():
    sets = rng().random((150, 90)) < 0.1
    near = np.roll(sets, 1, axis=1) | np.roll(sets, -1, axis=1)
    responded = sets | near | (rng(6).random(sets.shape) < 0.3)
    apart = (sets.T.astype(int) @ ~responded > 0) | np.eye(90, dtype=bool)
    alike = (~(apart | apart.T)).nonzero()
    assert 90 <= len(alike[0]) < 800
    np.testing.assert_array_equal(seeming_pairs(sets, responded, 90, 0), alike)


@pytest.mark.parametrize("count", [1, 64, 65, 200])
def test_words_hold_the_bits_of_each_coordinate(count):
    bits = rng().random((count, 7)) < 0.4
    found = words(bits)
    assert found.shape == (7, -(-count // 64)) and found.dtype == np.uint64
    assert [sum(int(word).bit_count() for word in row) for row in found] == bits.sum(axis=0).tolist()


@pytest.mark.rotate
@pytest.mark.parametrize("dim", [900, 4001, 12_000])
def test_a_long_chain_is_a_field(dim):
    target = Normal(with_hubs(chain(dim), dim, dim))
    found = structure_of(target, rng().normal(size=target.dim), rng())
    assert isinstance(found, Field) and found.bandwidth == 1
    assert found.outer.tolist() == [dim, dim + 1]


@dataclass(frozen=True)
class DenseElsewhere(Target):
    """A random walk whose steps meet in their sum as well, where a scale is positive."""

    dim: int = 200

    def log_density_gradients(self, us):
        scale, x = us[:, :1], us[:, 1:]
        steps, total, weight = np.diff(x, axis=1), x.sum(axis=1, keepdims=True), np.maximum(us[:, :1], 0.0)
        value = -0.5 * ((x**2).sum(axis=1) + (steps**2).sum(axis=1) + (weight * total**2 + scale**2)[:, 0])
        walk = np.pad(steps, ((0, 0), (0, 1))) - np.pad(steps, ((0, 0), (1, 0)))
        slope = -0.5 * (scale > 0) * total**2 - scale
        return value, np.hstack([slope, walk - x - weight * total])

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]


def after_a_hub(graph):
    """The same after a coordinate that meets all."""
    size, others = graph.dim + 1, np.arange(1, graph.dim + 1)
    return Graph.of_pairs(size, np.append(graph.first + 1, 0 * others), np.append(graph.second + 1, others))


def test_a_field_is_sparse_at_distant_points_too():
    """As the coordinates of a Gaussian process with a short length scale seem to be at the start."""
    target = DenseElsewhere()
    u = np.full(target.dim, -0.01)
    assert same(graph_of(target, u, rng()), after_a_hub(chain(target.dim - 1)))
    assert not isinstance(structure_of(target, u, rng()), Field)


@pytest.mark.parametrize(
    "graph",
    [chain(60), grid(5, 8), GRAPHS["alone"], Graph.of_pairs(90, *rng(3).integers(0, 90, (2, 50)))],
    ids=["chain", "grid", "alone", "random"],
)
def test_components_degrees_and_bands_are_those_of_scipy(graph):
    some = np.flatnonzero(rng().random(graph.dim) < 0.8)[:LARGEST_BY_NUMPY]
    inside, left = graph.as_csr[some][:, some], rng().random(graph.dim) < 0.5
    labels = sparse.csgraph.connected_components(inside, directed=False)[1]
    assert graph.among(some).components().tolist() == labels.tolist()
    degrees, one = graph.degrees(left), int(left.argmax())
    assert degrees.tolist() == (graph.as_csr @ left.astype(int)).tolist()
    left[one] = False
    degrees[graph.met_by(one)] -= 1
    assert degrees.tolist() == graph.degrees(left).tolist()
    assert (graph.among(some).matrix == inside.toarray()).all()
    orders = graph.band_order(), sparse.csgraph.reverse_cuthill_mckee(graph.as_csr, symmetric_mode=True)
    graphs = [graph.in_order(order) for order in orders]
    ours, theirs = (np.abs(each.first - each.second).max(initial=0) for each in graphs)
    assert sorted(orders[0]) == list(range(graph.dim)) and graphs[0].size == graph.size
    assert ours <= theirs + 1
