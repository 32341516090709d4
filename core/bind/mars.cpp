// Python's door to the forward pass of MARS.
#include "mars/forward.hpp"

#include <nanobind/stl/vector.h>

#include "base/arrays.hpp"
#include "base/binding.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treewright {
namespace {

mars::Options read_options(const nb::dict& given) {
  mars::Options o;
  o.degree = nb::cast<i32>(given["degree"]);
  o.max_terms = nb::cast<i32>(given["max_terms"]);
  o.penalty = nb::cast<double>(given["penalty"]);
  o.thresh = nb::cast<double>(given["thresh"]);
  o.minspan = nb::cast<i32>(given["minspan"]);
  o.endspan = nb::cast<i32>(given["endspan"]);
  o.adjust_endspan = nb::cast<double>(given["adjust_endspan"]);
  o.fast_k = nb::cast<i32>(given["fast_k"]);
  o.fast_beta = nb::cast<double>(given["fast_beta"]);
  o.auto_linear = nb::cast<bool>(given["auto_linear"]);
  o.cache_bytes = nb::cast<i64>(given["cache_bytes"]);
  o.n_threads = nb::cast<i32>(given["n_threads"]);
  return o;
}

nb::dict to_dict(mars::Forward out) {
  std::vector<i32> parent, feature, kind, slot;
  std::vector<double> knot;
  for (const mars::Term& term : out.terms) {
    parent.push_back(term.parent);
    feature.push_back(term.feature);
    kind.push_back(static_cast<i32>(term.kind));
    slot.push_back(term.slot);
    knot.push_back(term.knot);
  }
  nb::dict d;
  d["parent"] = to_numpy(std::move(parent));
  d["feature"] = to_numpy(std::move(feature));
  d["kind"] = to_numpy(std::move(kind));
  d["knot"] = to_numpy(std::move(knot));
  d["slot"] = to_numpy(std::move(slot));
  d["rss"] = to_numpy(std::move(out.rss));
  d["sizes"] = to_numpy(std::move(out.sizes));
  d["end"] = static_cast<i32>(out.end);
  return d;
}

nb::dict forward_of(Matrix<double> x, Matrix<double> y, nb::object weight, nb::object copies,
                    nb::object linear, nb::dict options, nb::object offer) {
  mars::Data data;
  data.n_features = static_cast<i32>(x.shape(0));
  data.n_rows = static_cast<i64>(x.shape(1));
  data.n_responses = static_cast<i32>(y.shape(1));
  data.x = view(x).data();
  data.y = view(y).data();
  std::vector<nb::object> owners;
  if (!weight.is_none()) data.weight = read_vector<double>(weight, owners).data();
  if (!copies.is_none()) data.copies = read_vector<double>(copies, owners).data();
  std::vector<u8> flags;
  if (!linear.is_none()) {
    const auto read = read_flags(linear, owners);
    for (const u8 flag : read) flags.push_back(flag != 0);
    data.linear = reinterpret_cast<const bool*>(flags.data());
  }
  const auto ask = [&](const std::vector<i32>& used, std::vector<u8>& allowed) {
    if (offer.is_none()) return;
    nb::gil_scoped_acquire gil;
    const nb::object mask = offer(nb::cast(used));
    const auto answer = read_flags(mask, owners);
    if (answer.size() != allowed.size()) refuse("The answer must have one flag per feature.");
    for (std::size_t f = 0; f < allowed.size(); ++f) allowed[f] = answer[f] != 0;
  };
  const mars::Options read = read_options(options);
  mars::Forward out;
  {
    GilRelease release;
    out = mars::forward(data, read, ask, SignalPoll());
  }
  return to_dict(std::move(out));
}

}  // namespace

void bind_mars(nb::module_& m) {
  m.def("mars_forward", &forward_of, "x"_a.noconvert(), "y"_a.noconvert(), "weight"_a.none(),
        "copies"_a.none(), "linear"_a.none(), "options"_a, "offer"_a.none(),
        "Terms of the forward pass of MARS.");
}

}  // namespace treewright
