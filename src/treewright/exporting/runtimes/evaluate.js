"use strict";

// MODEL-COMMENT
// predict(row): class or number; predict_proba(row): probabilities in the order of
// MODEL.target.classes. A row is an object by name, or an array in the order of the inputs; null,
// undefined and NaN are gaps, and so are categories that the model does not know.
const treewrightModel = (() => {
  const MODEL = {};

  const isGap = (value) => value === null || value === undefined || Number.isNaN(value);
  const key = (value) => (typeof value === "boolean" ? Number(value) : value);
  const CODES = MODEL.inputs.map((item) => new Map(item.categories.map((c, k) => [key(c), k])));

  function encode(row) {
    return MODEL.inputs.map((item, place) => {
      const own = Array.isArray(row) ? place : item.name;
      const value = Object.prototype.hasOwnProperty.call(row, own) ? row[own] : null;
      if (isGap(value)) return null;
      if (item.kind === "continuous") return Number(value);
      const code = CODES[place].get(key(value));
      return code === undefined ? null : code;
    });
  }

  const largest = (of) => of.reduce((best, value, k) => (value > of[best] ? k : best), 0);
  const sum = (of) => of.reduce((total, value) => total + value, 0);

  // The numbers that a program gives, and the place of the class it decides for.
  function run(program, x) {
    const decide = program.decide;
    const given = program.parts.map((part) => PARTS[part.kind](part, x));
    if (decide !== null && decide.kind === "label") {
      return [given[0].slice(0, -1), given[0][given[0].length - 1]];
    }
    const scores = combine(program, given);
    const numbers = finish(program.finish, scores);
    return [numbers, decide === null ? null : decideClass(decide, scores, numbers)];
  }

  function combine(program, given) {
    if (program.combine === "median") {
      const order = given.map((_, k) => k).sort((a, b) => given[a][0] - given[b][0] || a - b);
      let total = 0;
      const below = order.map((k) => (total += program.weights[k]));
      return given[order[below.findIndex((held) => held >= 0.5 * total)]];
    }
    const scores = program.start.slice();
    given.forEach((numbers, i) => {
      const column = program.parts[i].column;
      numbers.forEach((number, k) => (scores[column + k] += number));
    });
    return program.combine === "mean" ? scores.map((s) => s / given.length) : scores;
  }

  function finish(how, scores) {
    const scaled = scores.map((score) => how.scale * score);
    if (how.kind === "none") return scores;
    if (how.kind === "affine") return scaled.map((s) => s + how.offset);
    if (how.kind === "exp") return scaled.map(Math.exp);
    if (how.kind === "logistic") {
      const s = scaled[0];
      const second = s >= 0 ? 1 / (1 + Math.exp(-s)) : Math.exp(s) / (1 + Math.exp(s));
      return [1 - second, second];
    }
    const top = scaled.reduce((a, b) => Math.max(a, b));
    const parts = how.kind === "shares" ? scores : scaled.map((s) => Math.exp(s - top));
    const total = sum(parts);
    return parts.map((part) => part / total);
  }

  function decideClass(decide, scores, numbers) {
    if (decide.kind === "positive") return Number(scores[0] > 0);
    if (decide.kind === "least_cost") {
      return largest(decide.costs.map((_, j) => -sum(numbers.map((p, i) => p * decide.costs[i][j]))));
    }
    return largest(decide.of === "scores" ? scores : numbers);
  }

  // What a test looks at, null for a gap.
  function valueOf(test, x) {
    if (test.terms === undefined) return x[test.feature];
    let total = 0;
    for (const [feature, weight, code] of test.terms) {
      if (x[feature] === null) return null;
      total += weight * (code === undefined ? x[feature] : x[feature] === code);
    }
    return total;
  }

  function branchOf(test, x) {
    const value = valueOf(test, x);
    if (value === null) return null;
    if (test.codes !== undefined) {
      const place = test.codes.indexOf(value);
      return place < 0 ? null : test.branches[place];
    }
    let found = 0;
    if (test.at_most !== undefined) for (const cut of test.at_most) found += value > cut;
    else for (const cut of test.below) found += value >= cut;
    return test.branches === undefined ? found : test.branches[found];
  }

  function tree(part, x) {
    const out = part.values[0].map(() => 0);
    const stack = [[0, 1]];
    while (stack.length) {
      const [at, share] = stack.pop();
      const node = part.nodes[at];
      let branch = "stop";
      if (node.children !== undefined) {
        branch = branchOf(node, x);
        for (const test of node.surrogates || []) {
          if (branch === null) branch = branchOf(test, x);
        }
        if (branch === null) branch = node.gap;
      }
      if (branch === "stop") {
        part.values[node.value].forEach((number, k) => (out[k] += share * number));
        continue;
      }
      let parts = node.children.map((_, k) => Number(k === branch));
      if (branch === "divide") parts = node.shares;
      else if (node.soft !== undefined && valueOf(node, x) !== null) {
        parts = soft(node.soft, valueOf(node, x), parts);
      }
      for (let k = parts.length - 1; k >= 0; --k) {
        if (share * parts[k] > 0) stack.push([node.children[k], share * parts[k]]);
      }
    }
    return out;
  }

  function soft([lower, middle, upper], value, parts) {
    if (!(lower < value && value < upper)) return parts;
    const first =
      value < middle
        ? 1 - (0.5 * (value - lower)) / (middle - lower)
        : (0.5 * (upper - value)) / (upper - middle);
    return [first, 1 - first];
  }

  function holds(test, x) {
    if (test.codes !== undefined) return test.codes.includes(x[test.feature]);
    if (test.not_codes !== undefined) return !test.not_codes.includes(x[test.feature]);
    const value = valueOf(test, x);
    if (value === null) return test.gap;
    return (
      (test.at_least === undefined || value >= test.at_least) &&
      (test.above === undefined || value > test.above) &&
      (test.at_most === undefined || value <= test.at_most) &&
      (test.below === undefined || value < test.below)
    );
  }

  function rules(part, x) {
    const found = part.rules.map((rule) => rule.every((test) => holds(test, x)));
    const none = part.values[part.values.length - 1];
    if (part.votes === null) {
      const first = found.indexOf(true);
      return first < 0 ? none : part.values[first];
    }
    const total = sum(part.votes.filter((_, i) => found[i]));
    if (!(total > 0)) return none;
    const out = none.map((_, k) =>
      sum(part.votes.map((vote, i) => (found[i] ? vote * part.values[i][k] : 0))) / total);
    if (part.labelled) out[out.length - 1] = largest(out.slice(0, -1));
    return out;
  }

  function terms(part, x) {
    const seen = part.predictors.map((item) => {
      const value = x[item.feature];
      if (item.role === "value") return value === null ? item.fill : value;
      return Number(item.role === "gap" ? value === null : value === item.code);
    });
    const products = part.terms.map((term) =>
      term.reduce((product, factor) => {
        const value = seen[factor.predictor];
        if (factor.kind === "above") return product * Math.max(value - factor.knot, 0);
        if (factor.kind === "below") return product * Math.max(factor.knot - value, 0);
        return product * value;
      }, 1));
    return part.weights.map((row) => sum(row.map((w, k) => w * products[k])));
  }

  function program(part, x) {
    const [numbers, label] = run(part.program, x);
    const isVote = part.say === "vote";
    const out = new Array(part.width).fill(isVote ? part.off : 0);
    if (part.say === "value") {
      part.columns.forEach((column, k) => (out[column] = part.on * numbers[k]));
    } else {
      out[part.columns[label]] = isVote ? part.on : numbers[label];
    }
    return out;
  }

  const PARTS = { tree, rules, terms, program };

  function predict(row) {
    const [numbers, label] = run(MODEL, encode(row));
    if (label !== null) return MODEL.target.classes[label];
    return numbers.length === 1 ? numbers[0] : numbers;
  }

  function predict_proba(row) {
    return run(MODEL, encode(row))[0];
  }

  return { MODEL, predict, predict_proba };
})();

if (typeof module !== "undefined") module.exports = treewrightModel;
