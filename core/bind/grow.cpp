// Python's door to the growth loop: flat arrays in, flat arrays out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "base/arrays.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "base/term.hpp"
#include "bind/grow.hpp"
#include "choose/factory.hpp"
#include "grow/assemble.hpp"
#include "quinlan/in_place/grow.hpp"

namespace nb = nanobind;

namespace treewright {
namespace {

// Reads a table's columns in place; the arrays outlive the call because the caller holds them.
std::vector<Column> read_columns(const nb::list& arrays, const nb::dict& params, i64& n_rows) {
  const auto categories = get<std::vector<i32>>(params, "n_categories");
  const auto ordered = get<std::vector<bool>>(params, "ordered");
  const auto multiway = get<std::vector<bool>>(params, "multiway");
  std::vector<Column> columns;
  for (std::size_t f = 0; f < arrays.size(); ++f) {
    Column c = read_column(arrays[f]);
    c.n_categories = categories[f];
    c.ordered = ordered[f];
    c.multiway = multiway[f];
    n_rows = static_cast<i64>(nb::len(nb::object(arrays[f])));
    columns.push_back(c);
  }
  return columns;
}

Params read_params(const nb::dict& d) {
  Params p;
  p.task = get<bool>(d, "classification") ? Task::classes : Task::numbers;
  p.gaps = static_cast<GapPolicy>(get<int>(d, "gaps"));
#define PARAMETER(type, name, value) p.name = get<type>(d, #name);
#include "base/parameters.inc"
#undef PARAMETER
  // More threads than the machine has bring nothing, and a forged file may ask for a million.
  const i32 hardware = static_cast<i32>(std::max(1u, std::thread::hardware_concurrency()));
  p.n_threads = std::clamp(get<i32>(d, "n_threads"), 1, hardware);
  return p;
}

void read_targets(const nb::dict& d, GrowCall& holder) {
  Targets& t = holder.problem.targets;
  const bool classes = holder.problem.is_classification();
  if (classes) {
    holder.label = get<Array<i32>>(d, "y");
    t.label = holder.label.data();
    t.n_classes = get<i32>(d, "n_classes");
    if (t.n_classes > 65535) throw nb::value_error("more than 65535 classes");
  } else {
    holder.y = get<Array<double>>(d, "y");
    t.y = holder.y.data();
    t.n_outputs = get<i32>(d, "n_outputs");
  }
  if (!d["weight"].is_none()) {
    holder.weight = get<Array<double>>(d, "weight");
    t.weight = holder.weight.data();
  }
  t.split_factor = get<std::vector<double>>(d, "split_factor");
  t.risk_factor = get<std::vector<double>>(d, "risk_factor");
  t.loss = get<std::vector<double>>(d, "loss");
  t.criterion_loss = get<std::vector<double>>(d, "criterion_loss");
}

nb::object matrix(const double* values, i64 rows, i32 width) {
  return to_numpy(std::vector<double>(values, values + rows * width),
                  {static_cast<std::size_t>(rows), static_cast<std::size_t>(width)});
}

// A Python function over all cuts, or the address of a compiled function of one cut.
std::unique_ptr<Chooser> user_chooser(const nb::dict& d, Problem& p) {
  const nb::object function = d["user"];
  if (nb::isinstance<nb::int_>(function)) {
    p.one_cut = reinterpret_cast<Problem::OneCut>(nb::cast<std::uintptr_t>(function));
    return make_compiled(p.is_classification());
  }
  return make_user(
      [function](const double* left, const double* right, i64 n, i32 width, double* out) {
        nb::gil_scoped_acquire gil;
        const nb::object scores = function(matrix(left, n, width), matrix(right, n, width));
        const auto array = nb::cast<Array<double>>(scores);
        if (array.ndim() != 1 || static_cast<i64>(array.shape(0)) != n) {
          throw nb::value_error("the criterion must return one score per cut");
        }
        std::memcpy(out, array.data(), sizeof(double) * n);
      });
}

QuinlanRules quinlan_rules(const nb::dict& d) {
  QuinlanRules rules;
  rules.single = get<bool>(d, "single");
  rules.ratio = get<bool>(d, "ratio");
  rules.subset = get<bool>(d, "subset");
  rules.zero_gain = get<bool>(d, "zero_gain");
  rules.min_items = get<double>(d, "min_items");
  rules.tolerance = get<double>(d, "tolerance");
  rules.count_rows = get<bool>(d, "count_rows");
  rules.apart = get<double>(d, "apart");
  rules.c50 = get<bool>(d, "c50");
  rules.cases = get<double>(d, "cases");
  return rules;
}

std::unique_ptr<Chooser> chooser_for(const nb::dict& d, Problem& p, const QuinlanRules& rules) {
  const auto name = get<std::string>(d, "criterion");
  if (name == "entropy" && p.params.intervals) return make_intervals();
  if (name == "user") return user_chooser(d, p);
  if (name == "quinlan") return make_quinlan(rules);
  if (auto chooser = make_by_name(name)) return chooser;
  throw nb::value_error("unknown criterion");
}

NumberCriterion number_criterion(const std::string& name) {
  if (name == "absolute_error") return NumberCriterion::absolute;
  if (name == "poisson") return NumberCriterion::poisson;
  return NumberCriterion::squared;
}

template <class T>
void copy_list(const nb::dict& d, const char* key, std::vector<T>& to) {
  if (d.contains(key)) to = nb::cast<std::vector<T>>(d[key]);
}

Split read_split(const nb::dict& d) {
  Split split;
  split.kind = static_cast<SplitKind>(get<int>(d, "kind"));
  split.feature = get<i32>(d, "feature");
  split.closed = get<bool>(d, "closed");
  split.n_branches = get<i32>(d, "n_branches");
  split.gain = get<double>(d, "gain");
  split.gap_branch = get<i32>(d, "gap_branch");
  split.reversed = get<bool>(d, "reversed");
  copy_list(d, "breaks", split.breaks);
  copy_list(d, "codes", split.codes);
  copy_list(d, "branches", split.branches);
  copy_list(d, "term_feature", split.term_feature);
  copy_list(d, "term_weight", split.term_weight);
  copy_list(d, "term_code", split.term_code);
  split.term_code.resize(split.term_feature.size(), kNoCode);
  if (split.n_branches < 2) throw nb::value_error("a split needs at least two branches");
  return split;
}

// What a Python chooser said of a node: None, or a split with surrogates.
PythonAnswer read_answer(const nb::handle& given) {
  PythonAnswer answer;
  if (given.is_none()) return answer;
  const auto d = nb::cast<nb::dict>(given);
  answer.is_split = true;
  answer.split = read_split(d);
  for (nb::handle item : nb::cast<nb::list>(d["surrogates"])) {
    const auto row = nb::cast<nb::dict>(item);
    answer.surrogates.push_back(
        {read_split(row), get<double>(row, "agreement"), get<double>(row, "adjusted")});
  }
  return answer;
}

AskPython ask_python(const nb::object& choose) {
  return [choose](LevelFacts facts) {
    nb::gil_scoped_acquire gil;
    const nb::object weights =
        facts.weights.empty() ? nb::none() : to_numpy(std::move(facts.weights));
    const nb::object said = choose(to_numpy(std::move(facts.rows)), weights,
                                   to_numpy(std::move(facts.start)), facts.depth, facts.path);
    std::vector<PythonAnswer> answers;
    for (nb::handle one : nb::cast<nb::list>(said)) answers.push_back(read_answer(one));
    if (answers.size() != facts.path.size()) {
      throw nb::value_error("a chooser must answer for every node");
    }
    return answers;
  };
}

nb::dict tree_dict(FlatTree t, std::size_t width) {
  const std::size_t n = t.first_child.size();
  nb::dict d;
  d["first_child"] = to_numpy(std::move(t.first_child));
  d["n_children"] = to_numpy(std::move(t.n_children));
  d["splits"] = splits_dict(std::move(t.splits));
  d["default"] = to_numpy(std::move(t.gap_branch));
  d["surrogate_offset"] = to_numpy(std::move(t.surrogate_offset));
  d["surrogates"] = splits_dict(std::move(t.surrogates));
  d["surrogate_agreement"] = to_numpy(std::move(t.agreement));
  d["surrogate_adjusted"] = to_numpy(std::move(t.adjusted));
  d["n_samples"] = to_numpy(std::move(t.n_samples));
  d["weight"] = to_numpy(std::move(t.weight));
  d["value"] = to_numpy(std::move(t.value), {n, width});
  if (!t.clipped.empty()) d["clipped"] = to_numpy(std::move(t.clipped));
  d["impurity"] = to_numpy(std::move(t.impurity));
  d["gain"] = to_numpy(std::move(t.gain));
  d["n_gaps"] = to_numpy(std::move(t.n_gaps));
  d["python_id"] = to_numpy(std::move(t.python_id));
  std::vector<u8> stopped(t.stopped.size());
  std::transform(t.stopped.begin(), t.stopped.end(), stopped.begin(),
                 [](Stop reason) { return static_cast<u8>(reason); });
  d["stopped"] = to_numpy(std::move(stopped));
  d["p_value"] = to_numpy(std::move(t.p_value));
  return d;
}

// Absolute error does not change under a shift; sums of y near zero keep more digits.
void shift_to_medians(Problem& problem) {
  Targets& t = problem.targets;
  std::vector<double> column(problem.n_rows);
  for (i32 o = 0; o < t.n_outputs; ++o) {
    for (i64 i = 0; i < problem.n_rows; ++i) column[i] = t.y[i * t.n_outputs + o];
    const auto middle = column.begin() + problem.n_rows / 2;
    std::nth_element(column.begin(), middle, column.end());
    t.shift.push_back(*middle);
  }
}

nb::dict grow_tree(nb::list columns, nb::dict params) {
  GrowCall call(columns, params);
  FlatTree tree;
  {
    GilRelease release;
    if (has_fractions(call.problem, call.quinlan)) {
      tree = grow_in_place(call.problem, call.options, call.quinlan);
    } else {
      Grown grown = grow(call.problem, call.options);
      tree = assemble(call.problem, grown);
    }
  }
  const Problem& p = call.problem;
  return tree_dict(std::move(tree),
                   p.is_classification() ? p.targets.n_classes : p.targets.n_outputs);
}

// The best candidate of each feature over all rows given, and surrogates of one of them.
nb::list score_candidates(nb::list columns, nb::dict params, i32 primary) {
  GrowCall call(columns, params);
  std::vector<std::pair<Candidate, Split>> found;
  std::vector<Surrogate> surrogates;
  {
    GilRelease release;
    found = candidates(call.problem, call.options, primary, &surrogates);
  }
  nb::list out;
  auto describe = [](const Split& s, nb::dict& d) {
    d["kind"] = static_cast<int>(s.kind);
    d["breaks"] = nb::cast(s.breaks);
    d["codes"] = nb::cast(s.codes);
    d["branches"] = nb::cast(s.branches);
    d["n_branches"] = s.n_branches;
    d["reversed"] = s.reversed;
    d["feature"] = s.feature;
  };
  for (const auto& [candidate, split] : found) {
    nb::dict d;
    describe(split, d);
    d["feature"] = candidate.feature;
    d["found"] = candidate.kind != CandidateKind::none;
    d["gain"] = split.gain;
    d["bits"] = candidate.bits;  // Quinlan's choosers only
    d["split_info"] = candidate.split_info;
    d["gaps_left"] = candidate.gaps_left;
    nb::list rows;
    if (candidate.feature == primary) {
      for (const Surrogate& s : surrogates) {
        nb::dict row;
        describe(s.split, row);
        row["agreement"] = s.agreement;
        row["adjusted"] = s.adjusted;
        rows.append(row);
      }
    }
    d["surrogates"] = rows;
    out.append(d);
  }
  return out;
}

}  // namespace

GrowCall::GrowCall(const nb::list& arrays, const nb::dict& params) {
  problem.params = read_params(params);
  problem.columns = read_columns(arrays, params, problem.n_rows);
  for (const nb::handle values : nb::cast<nb::list>(params["cut_values"])) {
    // the list in `params` keeps the arrays alive as long as the call
    const auto a = nb::cast<nb::ndarray<const double, nb::ndim<1>, nb::c_contig>>(values);
    problem.cut_values.emplace_back(a.data(), a.shape(0));
  }
  read_targets(params, *this);
  const auto criterion = get<std::string>(params, "criterion");
  options.own_scale = criterion == "user";
  problem.squares = options.own_scale && !problem.is_classification();
  options.numbers = number_criterion(criterion);
  if (options.numbers == NumberCriterion::absolute) shift_to_medians(problem);
  const nb::object choose = params["choose"];
  if (choose.is_none()) {
    if (criterion == "quinlan") quinlan = quinlan_rules(nb::cast<nb::dict>(params["quinlan"]));
    chooser = chooser_for(params, problem, quinlan);
    options.chooser = chooser.get();
    const nb::object oblique = params["oblique"];
    if (!oblique.is_none()) linear = read_linear(nb::cast<nb::dict>(oblique));
    options.linear = linear.get();
  } else {
    options.ask = ask_python(choose);
    problem.searchable = false;
  }
  const nb::object progress = params["progress"];
  options.poll = [progress](double done) {
    check_signals();
    nb::gil_scoped_acquire gil;
    if (!progress.is_none()) progress(done);
  };
}

nb::dict splits_dict(FlatSplits s) {
  nb::dict d;
  d["kind"] = to_numpy(std::move(s.kind));
  d["feature"] = to_numpy(std::move(s.feature));
  d["closed"] = to_numpy(std::move(s.closed)).attr("view")("bool");
  d["reversed"] = to_numpy(std::move(s.reversed)).attr("view")("bool");
  d["break_offset"] = to_numpy(std::move(s.break_offset));
  d["breaks"] = to_numpy(std::move(s.breaks));
  d["code_offset"] = to_numpy(std::move(s.code_offset));
  d["codes"] = to_numpy(std::move(s.codes));
  d["branches"] = to_numpy(std::move(s.branches));
  d["term_offset"] = to_numpy(std::move(s.term_offset));
  d["term_feature"] = to_numpy(std::move(s.term_feature));
  d["term_weight"] = to_numpy(std::move(s.term_weight));
  d["term_code"] = to_numpy(std::move(s.term_code));
  return d;
}

void bind_grow(nb::module_& m) {
  m.def("grow", &grow_tree, nb::arg("columns"), nb::arg("params"));
  m.def("candidates", &score_candidates, nb::arg("columns"), nb::arg("params"), nb::arg("primary"));
}

}  // namespace treewright
