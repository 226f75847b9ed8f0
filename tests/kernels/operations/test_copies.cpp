// Blocks of cells between fields and buffers, of all cells or of one colour, and the ghosts outside the
// domain.

#include <array>

#include "tests/kernels/boxes.hpp"

using namespace keel;
using namespace keel::test;

namespace {

// Fields from() of noise and to() of zeros, that blocks are copied between.
struct Fields {
    Fields(Boxes& x, std::size_t count) {
        for (std::size_t n = 0; n < count; ++n) {
            from.push_back(x.make(static_cast<int>(n)));
            to.push_back(x.make());
        }
    }
    std::vector<Field> from, to;
};

// The cell that one of the copies brings to a cell of a target, if any does.
std::optional<Cell> origin(const Boxes& x, const Cell& c, std::span<const BlockCopy> taken,
                           std::span<const BlockCopy> put) {
    std::optional<Cell> found;
    for (std::size_t r = 0; r < put.size(); ++r)
        if (put[r].to.box == c.box && inside({put[r].to.at, put[r].extent}, c.at))
            found = x.cell(taken[r].from.box, taken[r].from.at + c.at + -put[r].to.at);
    return found;
}

}  // namespace

TEST_CASE("packing several fields and unpacking them moves every cell to its place") {
    const std::size_t fields = static_cast<std::size_t>(GENERATE(1, 2, 8, 9, 20));
    Boxes x(Boxes::Choice{});
    const auto [from, to] = Fields(x, fields);
    const std::vector<BlockCopy> taken{BlockCopy::pack(0, {{4, 0, 0}, {1, 5, 5}}, 0),
                                       BlockCopy::pack(1, {{0, 1, 2}, {5, 2, 1}}, 25)};
    const std::vector<BlockCopy> put{BlockCopy::pack(1, {{-1, 0, 0}, {1, 5, 5}}, 0).reversed(),
                                     BlockCopy::pack(0, {{0, 3, -1}, {5, 2, 1}}, 25).reversed()};
    const auto taken_items = x.operations->make_items(std::span(taken));
    const auto put_items = x.operations->make_items(std::span(put));
    CHECK(taken_items.count == 2);
    CHECK(taken_items.cells == 35);
    const Buffer buffer = x.operations->make_buffer(35 * fields, Wire::staged);
    x.operations->copy_blocks(Packed{buffer, fields}, taken_items, from, {});

    // The order on the wire: block, then field, then cell.
    std::vector<double> wire;
    for (const BlockCopy& one : taken)
        for (std::size_t n = 0; n < fields; ++n)
            for_each_offset(one.extent, [&](const Index& c) {
                wire.push_back(noise(static_cast<int>(n), x.cell(one.from.box, one.from.at + c)));
            });
    const auto* const sent = static_cast<const double*>(buffer.wire);
    CHECK(std::vector<double>(sent, sent + buffer.values) == wire);

    // Every cell and ghost cell after the copies, by what the others hold.
    const auto brought = [&](const std::vector<Field>& u, bool noise_elsewhere) {
        double worst = 0;
        for (std::size_t n = 0; n < fields; ++n)
            worst = std::max(worst, x.difference(
                                        u[n],
                                        [&, field = static_cast<int>(n)](const Cell& c) {
                                            if (const auto cell = origin(x, c, taken, put))
                                                return noise(field, *cell);
                                            return noise_elsewhere ? noise(field, c) : 0.0;
                                        },
                                        1));
        return worst == 0;
    };
    x.operations->copy_blocks(to, put_items, Packed{buffer, fields}, {});
    CHECK(brought(to, false));
    const std::vector<BlockCopy> copies{{taken[0].extent, taken[0].from, put[0].to},
                                        {taken[1].extent, taken[1].from, put[1].to}};
    x.operations->copy_blocks(from, x.operations->make_items(std::span(copies)), from, {});
    CHECK(brought(from, true));

    const Buffer small = x.operations->make_buffer(35 * fields - 1, Wire::staged);
    CHECK_THROWS_AS(x.operations->copy_blocks(Packed{small, fields}, taken_items, from, {}),
                    std::logic_error);
    CHECK_THROWS_AS(x.operations->copy_blocks(to, put_items, Packed{small, fields}, {}), std::logic_error);
}

TEST_CASE("of one colour what is copied are the cells that have it where they are copied to") {
    const int size = GENERATE(1, 3, 9);  // cells of the region along its rows
    const std::size_t fields = static_cast<std::size_t>(GENERATE(1, 10));
    Boxes x({.width = 9, .ghosts = 2});
    const std::vector<Field> u = Fields(x, fields).from;
    // By an odd number of cells, so that a cell's colour is not that of the one that becomes it.
    const Region source{{0, 1, 2}, {size, 4, 3}}, target{{0, 2, 4}, {size, 4, 3}};
    const auto item = BlockCopy::local(0, source, 1, target.lo);
    const Colour colour = GENERATE(Colour::red, Colour::black);
    const Work work = x.operations->copy_blocks(u, x.operations->make_items(std::span(&item, 1)), u, colour);
    CHECK(work.bytes == 16.0 * (size * 12 / 2) * static_cast<double>(fields));
    for (std::size_t n = 0; n < fields; ++n)
        CHECK(x.difference(u[n], [&](const Cell& c) {
            const bool taken = c.box == 1 && c.has(colour) && inside(target, c.at);
            return noise(static_cast<int>(n), taken ? x.cell(0, source.lo + c.at + -target.lo) : c);
        }) == 0);
}

TEST_CASE("of one colour a region takes half the places of a buffer, whatever its extents") {
    const int size = GENERATE(1, 2, 3, 8, 9);  // along its rows
    const auto [rows, planes] = GENERATE(std::pair(2, 3), std::pair(3, 3));
    const std::size_t fields = static_cast<std::size_t>(GENERATE(1, 10));
    const Colour colour = GENERATE(Colour::red, Colour::black);
    Boxes x({.width = 10, .ghosts = 2});
    const auto [from, to] = Fields(x, fields);
    // The copied cells lie an even number of cells away, so that they keep their colour; part of the region
    // is unpacked alone.
    const Region source{{0, 1, 2}, {size, rows, planes}};
    const Index part{size - size / 2, rows - 1, planes - 1};
    auto taken = BlockCopy::pack(0, source, 3);
    taken.to.shift = 1;
    const Index begin{size / 2, 1, 1};
    BlockCopy put{part, taken.to, in_box(1, source.lo + begin)};
    put.from.at = begin;
    const std::size_t cells = source.cells();
    CHECK(taken.to.end() == 3 + (cells + 1) / 2);
    const Packed buffer{x.operations->make_buffer((3 + (cells + 1) / 2) * fields, Wire::staged), fields};
    const Work work =
        x.operations->copy_blocks(buffer, x.operations->make_items(std::span(&taken, 1)), from, colour);
    CHECK(work.bytes == 16.0 * static_cast<double>(cells * fields / 2));
    x.operations->copy_blocks(to, x.operations->make_items(std::span(&put, 1)), buffer, colour);
    int brought = 0;
    for (std::size_t n = 0; n < fields; ++n)
        CHECK(x.difference(to[n], [&](const Cell& c) {
            const Cell same = x.cell(0, c.at);
            if (c.box != 1 || !same.has(colour) || !inside({put.to.at, part}, c.at)) return 0.0;
            ++brought;
            return noise(static_cast<int>(n), same);
        }) == 0);
    CHECK(brought >= static_cast<int>(fields));
}

TEST_CASE("part of a region that lies in a buffer as a whole can be unpacked alone") {
    const std::size_t fields = static_cast<std::size_t>(GENERATE(1, 3));
    Boxes x({.storage = GENERATE(Storage::boxes, Storage::blocks)});
    const auto [from, to] = Fields(x, fields);
    const Region whole{{1, 0, 2}, {4, 3, 2}};
    const Region part{{3, 1, 2}, {2, 2, 2}};
    const Region moved{part.lo + Index{1, 1, 1}, part.size};
    const auto taken = BlockCopy::pack(0, whole, 7);
    const BlockCopy put{part.size, in_buffer(7, whole.size, part.lo + -whole.lo), in_box(1, moved.lo)};
    const auto put_items = x.operations->make_items(std::span(&put, 1));
    CHECK(put_items.cells == 8);
    CHECK(put_items.values == 7 + 24);
    const Packed buffer{x.operations->make_buffer(31 * fields, Wire::staged), fields};
    x.operations->copy_blocks(buffer, x.operations->make_items(std::span(&taken, 1)), from, {});
    x.operations->copy_blocks(to, put_items, buffer, {});
    for (std::size_t n = 0; n < fields; ++n)
        CHECK(x.difference(to[n], [&](const Cell& c) {
            const bool brought = c.global[0] >= x.width && inside(moved, c.global + Index{-x.width, 0, 0});
            return brought ? noise(static_cast<int>(n), x.cell(0, c.at + Index{-1, -1, -1})) : 0.0;
        }) == 0);
}

TEST_CASE(
    "forwarding copies values from buffer to buffer, all fields of each together, in either precision") {
    const std::size_t fields = static_cast<std::size_t>(GENERATE(1, 2, 9));
    const Precision precision = GENERATE(Precision::fp64, Precision::fp32);
    Boxes x({.storage = GENERATE(Storage::boxes, Storage::blocks)});
    const auto [u, v] = Fields(x, fields);
    // Two rows are packed; they are passed on in the other order, behind a gap, and unpacked.
    const std::vector<BlockCopy> taken{BlockCopy::pack(0, {{0, 1, 1}, {5, 1, 1}}, 0),
                                       BlockCopy::pack(1, {{1, 2, 0}, {3, 1, 1}}, 5)};
    const std::vector<BlockCopy> forwards{BlockCopy::forward(0, 6, 5), BlockCopy::forward(5, 2, 3)};
    const std::vector<BlockCopy> put{BlockCopy::pack(1, {{0, 3, 3}, {5, 1, 1}}, 6).reversed(),
                                     BlockCopy::pack(0, {{2, 4, 4}, {3, 1, 1}}, 2).reversed()};
    Packed received{x.operations->make_buffer(8 * fields, Wire::direct), fields};
    Packed sent{x.operations->make_buffer(11 * fields, Wire::direct), fields};
    received.buffer.precision = sent.buffer.precision = precision;
    x.operations->copy_blocks(received, x.operations->make_items(std::span(taken)), u, {});
    const Work work =
        x.operations->copy_blocks(sent, x.operations->make_items(std::span(forwards)), received, {});
    CHECK(work.bytes == 2 * 8.0 * static_cast<double>(bytes_of_value(precision) * fields));
    x.operations->copy_blocks(v, x.operations->make_items(std::span(put)), sent, {});
    const auto sent_as = [&](double value) {
        return precision == Precision::fp32 ? static_cast<double>(static_cast<float>(value)) : value;
    };
    for (std::size_t n = 0; n < fields; ++n)
        CHECK(x.difference(v[n], [&](const Cell& c) {
            const auto cell = origin(x, c, taken, put);
            return cell ? sent_as(noise(static_cast<int>(n), *cell)) : 0.0;
        }) == 0);
}

TEST_CASE(
    "ghosts outside the domain are mirror images with the sign of their boundary, and no others change") {
    const int width = GENERATE(1, 4, 5);
    const MirrorFactors factor{-1.0, 1.0, Sides(-1.0, 1.0)};
    Boxes x(Boxes::alone(width));
    const Field u = x.make(1);
    // All sides of box 0, and of box 1 those where only y and z lead out of the domain.
    const Index around = x.layout.layers(1), extent = x.layout.extent();
    std::vector<BoundaryItem> ghosts;
    for_each_offset({3, 3, 1 + 2 * around[2]}, [&](const Index& number) {
        const Index side = number + -around;
        Region cells;
        for (std::size_t d = 0; d < 3; ++d) {
            cells.lo[d] = side[d] < 0 ? -1 : side[d] > 0 ? extent[d] : 0;
            cells.size[d] = side[d] == 0 ? extent[d] : 1;
        }
        if (side != Index{}) ghosts.push_back({0, cells, side});
        if (side[1] != 0 || side[2] != 0) ghosts.push_back({1, cells, {0, side[1], side[2]}});
    });
    const Work work = x.operations->fill_boundary(
        u, x.operations->make_items(std::span<const BoundaryItem>(ghosts)), factor);
    const auto with_ghosts = static_cast<int>(x.cells(1).cells()), cells = static_cast<int>(product(extent));
    const int outside_0 = with_ghosts - cells, outside_1 = with_ghosts - (width + 2) * cells / width;
    CHECK(work.bytes == 2 * 8.0 * (outside_0 + outside_1));
    CHECK(x.difference(
              u,
              [&](const Cell& c) {
                  Index mirror = c.at;
                  double sign = 1;
                  for (std::size_t d = c.box == 0 ? 0 : 1; d < x.dimensions; ++d) {
                      mirror[d] = std::clamp(c.at[d], 0, width - 1);
                      if (mirror[d] != c.at[d]) sign *= c.at[d] < 0 ? factor[d].low : factor[d].high;
                  }
                  return sign * noise(1, x.cell(c.box, mirror));
              },
              1) == 0);
}
