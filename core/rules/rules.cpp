// Matching rows against rules, in pieces of rows over threads; see rules.hpp.
//
// Rows are independent, and sums over rows are sums of integers, so neither pieces nor threads
// can change a result.

#include "rules/rules.hpp"

#include <optional>

#include "rules/generalise.hpp"
#include "rules/weights.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>

#include "base/binding.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "base/threads.hpp"

namespace treewright {
namespace rules {

namespace {

void check_offsets(std::span<const std::int64_t> offset, std::size_t count, std::size_t length,
                   const char* what) {
  bool sound = offset.size() == count + 1 && offset.front() == 0 &&
               offset.back() == static_cast<std::int64_t>(length);
  for (std::size_t i = 0; sound && i < count; ++i) sound = offset[i] <= offset[i + 1];
  if (!sound) refuse(std::string("The offsets of the ") + what + " do not fit them.");
}

void check_feature(std::int32_t f, std::size_t n_features) {
  if (f < 0 || f >= static_cast<std::int64_t>(n_features))
    refuse("A test reads feature " + std::to_string(f) + " of " + std::to_string(n_features) + ".");
}

}  // namespace

RuleModel::RuleModel(std::span<const std::int32_t> categories, const TestArrays& a,
                     std::span<const std::int64_t> offset, std::span<const std::int32_t> listed)
    : n_categories(categories.begin(), categories.end()),
      term_feature(a.term_feature.begin(), a.term_feature.end()),
      term_code(a.term_code.begin(), a.term_code.end()),
      term_weight(a.term_weight.begin(), a.term_weight.end()),
      rule_offset(offset.begin(), offset.end()),
      rule_tests(listed.begin(), listed.end()) {
  const std::size_t n = a.kind.size(), n_features = n_categories.size();
  if (a.feature.size() != n || a.gap.size() != n || a.low.size() != n || a.high.size() != n)
    refuse("The arrays of the tests differ in length.");
  if (offset.empty()) refuse("The offsets of the rules do not fit them.");
  check_offsets(offset, offset.size() - 1, listed.size(), "rules");
  check_offsets(a.code_offset, n, a.codes.size(), "codes");
  check_offsets(a.term_offset, n, a.term_feature.size(), "terms");
  if (a.term_weight.size() != a.term_feature.size() || a.term_code.size() != a.term_feature.size())
    refuse("Terms, weights and codes of terms differ in number.");
  for (const std::int32_t t : listed)
    if (t < 0 || t >= static_cast<std::int64_t>(n))
      refuse("A rule lists a test that is not there.");
  std::vector<bool> reads(n_features, false);
  tests.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (a.kind[i] > Test::linear) refuse("A test is of an unknown kind.");
    Test t{static_cast<Test::Kind>(a.kind[i]),
           a.gap[i] != 0,
           a.feature[i],
           a.low[i],
           a.high[i],
           a.term_offset[i],
           a.term_offset[i + 1]};
    if (t.kind == Test::linear) {
      for (std::int64_t k = t.begin; k < t.end; ++k) {
        check_feature(term_feature[k], n_features);
        reads[term_feature[k]] = true;
      }
    } else {
      check_feature(t.feature, n_features);
      reads[t.feature] = true;
    }
    if (t.kind == Test::codes || t.kind == Test::other_codes) {
      const auto codes = a.codes.subspan(a.code_offset[i], a.code_offset[i + 1] - a.code_offset[i]);
      std::int32_t most = -1;
      for (const std::int32_t code : codes) {
        if (code < 0 || code >= n_categories[t.feature]) refuse("A test lists an unknown code.");
        most = std::max(most, code);
      }
      t.begin = static_cast<std::int64_t>(words.size());
      words.resize(words.size() + (most + 64) / 64, 0);
      t.end = static_cast<std::int64_t>(words.size());
      for (const std::int32_t code : codes)
        words[t.begin + code / 64] |= std::uint64_t{1} << (code % 64);
    }
    tests.push_back(t);
  }
  if (n_features && std::find(reads.begin(), reads.end(), true) == reads.end()) reads[0] = true;
  for (std::size_t f = 0; f < n_features; ++f)
    if (reads[f]) used.push_back(static_cast<std::int32_t>(f));  // never none: one tells the rows
}

namespace {

class Matcher {
 public:
  explicit Matcher(RuleModel&& model) : model_(std::move(model)) {}

  std::int64_t n_rules() const { return model_.n_rules(); }

  // The first rule that holds for each row, -1 where none does.
  auto first(nb::handle rows, int n_threads) const {
    const Input input = read(rows, n_threads);
    auto out = allocate(std::int32_t{}, input.n_rows);
    run(input, n_threads,
        [&, result = out.data()](Piece& piece, std::int64_t start, std::int32_t count, int) {
          std::fill_n(result + start, count, -1);
          Bits open = piece.everyone();
          for (std::int64_t rule = 0; rule < n_rules(); ++rule) {
            const Bits found = piece.match(rule, open);
            for_each_row(found, [&](std::int32_t i) {
              result[start + i] = static_cast<std::int32_t>(rule);
            });
            std::uint64_t left = 0;
            for (std::int32_t w = 0; w < n_words; ++w) left |= open[w] &= ~found[w];
            if (!left) break;
          }
        });
    return out;
  }

  // Sum of the values of all rules that hold for each row, in the order of the rules.
  auto sums(nb::handle rows, const Matrix<double>& values, int n_threads) const {
    if (static_cast<std::int64_t>(values.shape(0)) != n_rules())
      refuse("Values must be one row for each of the " + std::to_string(n_rules()) +
             " rules, got " + std::to_string(values.shape(0)) + ".");
    const Input input = read(rows, n_threads);
    const std::size_t k = values.shape(1);
    auto out = allocate(double{}, input.n_rows, k);
    run(input, n_threads,
        [&, result = out.data(), source = view(values).data()](Piece& piece, std::int64_t start,
                                                               std::int32_t count, int) {
          std::fill_n(result + start * k, count * k, 0.0);
          for (std::int64_t rule = 0; rule < n_rules(); ++rule)
            for_each_row(piece.match(rule, piece.everyone()), [&](std::int32_t i) {
              for (std::size_t c = 0; c < k; ++c)
                result[(start + i) * k + c] += source[rule * k + c];
            });
        });
    return out;
  }

  // All rules that hold for each row, ascending, as (indptr, indices).
  nb::tuple matches(nb::handle rows, int n_threads) const {
    const Input input = read(rows, n_threads);
    auto indptr = allocate(std::int64_t{}, input.n_rows + 1);
    std::int64_t* length = indptr.data() + 1;
    indptr.data()[0] = 0;
    std::vector<std::vector<std::int32_t>> found(input.n_rows);
    run(input, n_threads, [&](Piece& piece, std::int64_t start, std::int32_t, int) {
      for (std::int64_t rule = 0; rule < n_rules(); ++rule)
        for_each_row(piece.match(rule, piece.everyone()), [&](std::int32_t i) {
          found[start + i].push_back(static_cast<std::int32_t>(rule));
        });
    });
    for (std::int64_t row = 0; row < input.n_rows; ++row)
      length[row] = length[row - 1] + static_cast<std::int64_t>(found[row].size());
    auto indices = allocate(std::int32_t{}, indptr.data()[input.n_rows]);
    for (std::int64_t row = 0; row < input.n_rows; ++row)
      std::copy(found[row].begin(), found[row].end(), indices.data() + length[row - 1]);
    return nb::make_tuple(indptr, indices);
  }

  // Per rule the rows that it holds for, and their weight in each class.
  nb::tuple cover(nb::handle rows, const Vector<std::int32_t>& y, const Vector<double>& weight,
                  std::int32_t n_classes, int n_threads) const {
    const Input input = read(rows, n_threads);
    const auto labels = view(y);
    check_classes(input, labels, n_classes, weight.size());
    const ScaledWeights weights(view(weight));
    const std::int64_t width = n_classes + 1;  // the last one counts rows
    std::vector<std::vector<std::int64_t>> parts(n_threads);
    run(input, n_threads, [&](Piece& piece, std::int64_t start, std::int32_t, int thread) {
      auto& own = parts[thread];
      if (own.empty()) own.assign(n_rules() * width, 0);
      for (std::int64_t rule = 0; rule < n_rules(); ++rule) {
        std::int64_t* sum = own.data() + rule * width;
        for_each_row(piece.match(rule, piece.everyone()), [&](std::int32_t i) {
          sum[labels[start + i]] += weights[start + i];
          sum[n_classes] += 1;
        });
      }
    });
    auto counts = allocate(std::int64_t{}, n_rules());
    auto sums = allocate(double{}, n_rules(), n_classes);
    for (std::int64_t rule = 0; rule < n_rules(); ++rule)
      for (std::int32_t c = 0; c <= n_classes; ++c) {
        std::int64_t sum = 0;
        for (const auto& part : parts) sum += part.empty() ? 0 : part[rule * width + c];
        if (c < n_classes)
          sums.data()[rule * n_classes + c] = static_cast<double>(sum) * weights.unit;
        else
          counts.data()[rule] = sum;
      }
    return nb::make_tuple(counts, sums);
  }

  // Drops conditions of every rule: which tests stay, and the weight covered and wrong then.
  nb::tuple generalise(nb::handle rows, const Vector<std::int32_t>& y, const Vector<double>& weight,
                       std::int32_t n_classes, const Vector<std::int32_t>& outcome,
                       const std::optional<std::array<double, 3>>& limit, int n_threads) const {
    const Input input = read(rows, n_threads);
    check_classes(input, view(y), n_classes, weight.size());
    if (static_cast<std::int64_t>(outcome.size()) != n_rules())
      refuse("Outcomes must be one for each rule.");
    for (const std::int32_t label : view(outcome))
      if (label < 0 || label >= n_classes) refuse("A class code is out of range.");
    const ScaledWeights weights(view(weight));
    Judge judge{{}, weights.unit};
    if (limit) {
      ErrorRules& rules = judge.limit.emplace();
      rules.confidence = (*limit)[0];
      rules.z = (*limit)[1];
      rules.tail = (*limit)[2];
    }
    const LearningRows learning(view(y), n_classes, weights.each);
    auto kept = allocate(std::uint8_t{}, model_.rule_tests.size());
    auto covered = allocate(double{}, n_rules());
    auto wrong = allocate(double{}, n_rules());
    constexpr std::int64_t chunk = 16;  // neighbours share tests
    std::optional<SortedFeatures> sorted;
    std::vector<std::unique_ptr<Generaliser>> own(n_threads);
    auto body = [&, labels = outcome.data()](std::int64_t c, int thread) {
      if (!own[thread])
        own[thread] = std::make_unique<Generaliser>(model_, learning, judge, *sorted, input);
      for (std::int64_t r = c * chunk; r < std::min(n_rules(), (c + 1) * chunk); ++r) {
        const Support s = own[thread]->run(r, labels[r], kept.data() + model_.rule_offset[r]);
        covered.data()[r] = static_cast<double>(s.covered) * weights.unit;
        wrong.data()[r] = static_cast<double>(s.wrong) * weights.unit;
      }
    };
    {
      GilRelease release;
      SignalPoll signals;
      sorted.emplace(model_, input, n_threads, signals);
      parallel_for((n_rules() + chunk - 1) / chunk, n_threads, body, signals);
    }
    return nb::make_tuple(kept, covered, wrong);
  }

 private:
  static void check_classes(const Input& input, std::span<const std::int32_t> labels,
                            std::int32_t n_classes, std::size_t n_weights) {
    if (static_cast<std::int64_t>(labels.size()) != input.n_rows ||
        (n_weights && static_cast<std::int64_t>(n_weights) != input.n_rows))
      refuse("Classes and weights must be one for each row.");
    for (const std::int32_t label : labels)
      if (label < 0 || label >= n_classes) refuse("A class code is out of range.");
  }

  Input read(nb::handle rows, int n_threads) const {
    if (n_threads < 1)
      refuse("n_threads must be at least 1, got " + std::to_string(n_threads) + ".");
    return Input(model_, rows);
  }

  // Calls body(piece, start, count, thread) for all pieces of rows.
  void run(const Input& input, int n_threads,
           Callable<void(Piece&, std::int64_t, std::int32_t, int)> body) const {
    constexpr double thread_work = 50000;  // starting a thread costs about as much
    const double per_row = static_cast<double>(model_.tests.size() + n_rules() / 8 + 1);
    const double work = static_cast<double>(input.n_rows) * per_row;
    const int team = static_cast<int>(std::clamp(work / thread_work, 1.0, double(n_threads)));
    std::vector<std::unique_ptr<Piece>> pieces(team);
    auto one = [&](std::int64_t p, int thread) {
      if (!pieces[thread]) pieces[thread] = std::make_unique<Piece>(model_);
      const std::int64_t start = p * max_piece;
      const auto count =
          static_cast<std::int32_t>(std::min<std::int64_t>(max_piece, input.n_rows - start));
      pieces[thread]->load(input, start, count);
      body(*pieces[thread], start, count, thread);
    };
    std::optional<GilRelease> release;
    if (work > thread_work / 10) release.emplace();
    parallel_for((input.n_rows + max_piece - 1) / max_piece, team, one, SignalPoll());
  }

  RuleModel model_;
};

void construct(Matcher* self, const Vector<std::int32_t>& n_categories, const nb::tuple& tests,
               const Vector<std::int64_t>& rule_offset, const Vector<std::int32_t>& rule_tests) {
  if (tests.size() != 11) throw nb::type_error("Tests must be a tuple of 11 arrays.");
  std::vector<nb::object> owners;
  const TestArrays arrays{read_vector<std::uint8_t>(tests[0], owners),
                          read_vector<std::int32_t>(tests[1], owners),
                          read_flags(tests[2], owners),
                          read_vector<double>(tests[3], owners),
                          read_vector<double>(tests[4], owners),
                          read_vector<std::int64_t>(tests[5], owners),
                          read_vector<std::int32_t>(tests[6], owners),
                          read_vector<std::int64_t>(tests[7], owners),
                          read_vector<std::int32_t>(tests[8], owners),
                          read_vector<double>(tests[9], owners),
                          read_vector<std::int32_t>(tests[10], owners)};
  new (self) Matcher(RuleModel(view(n_categories), arrays, view(rule_offset), view(rule_tests)));
}

}  // namespace
}  // namespace rules

void bind_rules(nb::module_& m) {
  using rules::Matcher;
  nb::class_<Matcher>(m, "RuleMatcher")
      .def("__init__", &rules::construct, nb::arg("n_categories").noconvert(), nb::arg("tests"),
           nb::arg("rule_offset").noconvert(), nb::arg("rule_tests").noconvert())
      .def("first", &Matcher::first, nb::arg("rows"), nb::arg("n_threads") = 1)
      .def("sums", &Matcher::sums, nb::arg("rows"), nb::arg("values").noconvert(),
           nb::arg("n_threads") = 1)
      .def("matches", &Matcher::matches, nb::arg("rows"), nb::arg("n_threads") = 1)
      .def("cover", &Matcher::cover, nb::arg("rows"), nb::arg("y").noconvert(),
           nb::arg("weight").noconvert(), nb::arg("n_classes"), nb::arg("n_threads") = 1)
      .def("generalise", &Matcher::generalise, nb::arg("rows"), nb::arg("y").noconvert(),
           nb::arg("weight").noconvert(), nb::arg("n_classes"), nb::arg("outcome").noconvert(),
           nb::arg("limit").none(), nb::arg("n_threads") = 1)
      .def_prop_ro("n_rules", &Matcher::n_rules);
}

}  // namespace treewright
