/* How a test reads a row: 0 breaks of a feature, 1 codes, 2 breaks of a weighted sum. */
typedef struct { int kind, feature, start, count, closed, branch, term, n_terms; } tw_test;
/* Children are adjacent. gap: a branch, -1 every branch by its share, -2 ends here. */
typedef struct { int test, child, n_children, gap, surrogate, n_surrogates, share, soft, value; } tw_node;
/* A test of two branches at one cut: x <= cut goes to child. A leaf leads to itself. */
typedef struct { double cut; int feature, child; } tw_cut;
/* One condition of a rule: low <= value <= high, or codes (2: any but these). */
typedef struct { double low, high; int kind, feature, gap, start, count, term, n_terms; } tw_condition;
typedef struct { int begin, end, value; double vote; } tw_rule;
/* role: 0 value, 1 category, 2 gap */
typedef struct { double fill; int feature, role, code; } tw_predictor;
typedef struct { double knot; int predictor, kind; } tw_factor;
/* A category that is a number, with its input and code. */
typedef struct { double value; int input, code; } tw_known_number;
/* kind: 0 trees of cuts, 1 tree, 2 rules, 3 terms, 4 program, 5 trees of cuts as code */
typedef struct { int kind, index, count, column, width, flag, extra; double on, off; } tw_part;
/* combine: 0 sum, 1 mean, 2 median; finish: 0 none, 1 affine, 2 shares, 3 softmax, 4 logistic,
   5 exp; decide: 0 no class, 1 largest score, 2 largest number, 3 least cost, 4 label, 5 positive */
typedef struct {
  int part, n_parts, combine, start, weight, n_scores, finish, decide, cost, n_members;
  double scale, offset;
} tw_program;

@TABLES@

static int tw_run(int p, const double *x, double *numbers);

static inline int tw_is_gap(double x) { return x != x; }

static inline double tw_value(int feature, int term, int n_terms, const double *x) {
  double total = 0.0;
  int i;
  if (n_terms == 0) return x[feature];
  for (i = term; i < term + n_terms; ++i) {
    double own = x[tw_term_feature[i]];
    if (tw_term_code[i] >= 0 && !tw_is_gap(own)) own = own == (double)tw_term_code[i];
    total += tw_term_weight[i] * own;
  }
  return total;
}

/* The branch that a test gives, or -1. */
static inline int tw_branch(const tw_test *t, const double *x) {
  const double value = tw_value(t->feature, t->term, t->n_terms, x);
  int i, found = 0;
  if (tw_is_gap(value)) return -1;
  if (t->kind == 1) {
    for (i = 0; i < t->count; ++i) {
      if ((double)tw_codes[t->start + i] == value) return tw_branches[t->branch + i];
    }
    return -1;
  }
  for (i = t->start; i < t->start + t->count; ++i) {
    found += t->closed ? value > tw_breaks[i] : value >= tw_breaks[i];
  }
  return tw_branches[t->branch + found];
}

static inline double tw_lower_share(const double *s, double x) {
  if (x < s[1]) return 1.0 - 0.5 * (x - s[0]) / (s[1] - s[0]);
  return 0.5 * (s[2] - x) / (s[2] - s[1]);
}

static inline void tw_tree(int root, int width, const double *x, double *out) {
  int at[TW_STACK];
  double share[TW_STACK];
  int n = 1, k, s;
  at[0] = root;
  share[0] = 1.0;
  for (k = 0; k < width; ++k) out[k] = 0.0;
  while (n > 0) {
    const tw_node *node = &tw_nodes[at[--n]];
    const double own = share[n];
    int branch = -2;
    if (node->n_children > 0) {
      branch = tw_branch(&tw_tests[node->test], x);
      for (s = 0; branch < 0 && s < node->n_surrogates; ++s) {
        branch = tw_branch(&tw_tests[node->surrogate + s], x);
      }
      if (branch < 0) branch = node->gap;
    }
    if (branch == -2) {
      for (k = 0; k < width; ++k) out[k] += own * tw_values[node->value + k];
      continue;
    }
    if (node->soft >= 0 && branch >= 0) {
      const double value = x[tw_tests[node->test].feature];
      const double *bounds = &tw_soft[node->soft];
      if (bounds[0] < value && value < bounds[2]) {
        const double lower = tw_lower_share(bounds, value);
        if (lower < 1.0) { at[n] = node->child + 1; share[n++] = own * (1.0 - lower); }
        if (lower > 0.0) { at[n] = node->child; share[n++] = own * lower; }
        continue;
      }
    }
    if (branch >= 0) {
      at[n] = node->child + branch;
      share[n++] = own;
      continue;
    }
    for (k = node->n_children - 1; k >= 0; --k) {
      if (own * tw_shares[node->share + k] > 0.0) {
        at[n] = node->child + k;
        share[n++] = own * tw_shares[node->share + k];
      }
    }
  }
}

/* One step down, without a branch for the processor to guess. An odd feature has gaps go right. */
static inline int tw_step(int at, const double *x) {
  const tw_cut *node = &tw_cuts[at];
  const double value = x[node->feature >> 1];
  return node->child + ((value > node->cut) | ((value != value) & node->feature & 1));
}

/* Eight trees walk in turns, so that one waits for memory while the others move. */
static inline void tw_cut_trees(const tw_part *part, const double *x, double *scores) {
  int t, k, c;
  for (t = part->index; t < part->index + part->count; t += 8) {
    const int left = part->index + part->count - t, lanes = left < 8 ? left : 8;
    int at[8], moved, steps = 0;
    for (k = 0; k < 8; ++k) {
      at[k] = tw_roots[t + (k < lanes ? k : 0)];
      if (k < lanes && tw_root_depth[t + k] > steps) steps = tw_root_depth[t + k];
    }
    /* In deeper trees most rows end long before the last level. */
    if (steps <= 12) {
      for (; steps > 0; --steps) {
        for (k = 0; k < 8; ++k) at[k] = tw_step(at[k], x);
      }
    } else {
      do {
        moved = 0;
        for (k = 0; k < 8; ++k) {
          const int next = tw_step(at[k], x);
          moved |= next ^ at[k];
          at[k] = next;
        }
      } while (moved);
    }
    for (k = 0; k < lanes; ++k) {
      const double *own = &tw_values[tw_cut_value[at[k]]];
      double *into = scores + tw_root_column[t + k];
      for (c = 0; c < part->width; ++c) into[c] += own[c];
    }
  }
}

static inline int tw_holds(const tw_condition *c, const double *x) {
  const double value = tw_value(c->feature, c->term, c->n_terms, x);
  int i, listed = 0;
  if (c->kind == 0) return tw_is_gap(value) ? c->gap : value >= c->low && value <= c->high;
  for (i = c->start; i < c->start + c->count; ++i) listed |= (double)tw_codes[i] == value;
  return c->kind == 1 ? listed : !listed;
}

static inline int tw_largest(const double *of, int n) {
  int k, best = 0;
  for (k = 1; k < n; ++k) if (of[k] > of[best]) best = k;
  return best;
}

/* flag: 0 the first rule, 1 votes, 2 votes with a class; the default is the last rule. */
static inline void tw_rule_set(const tw_part *part, const double *x, double *out) {
  const int last = part->index + part->count - 1;
  const double *none = &tw_values[tw_rules[last].value];
  double total = 0.0;
  int r, i, k;
  for (k = 0; k < part->width; ++k) out[k] = 0.0;
  for (r = part->index; r < last; ++r) {
    const tw_rule *rule = &tw_rules[r];
    int holds = 1;
    for (i = rule->begin; holds && i < rule->end; ++i) holds = tw_holds(&tw_conditions[i], x);
    if (!holds) continue;
    total += rule->vote;
    for (k = 0; k < part->width; ++k) {
      out[k] += part->flag ? rule->vote * tw_values[rule->value + k] : tw_values[rule->value + k];
    }
    if (!part->flag) return;
  }
  for (k = 0; k < part->width; ++k) out[k] = total > 0.0 ? out[k] / total : none[k];
  if (part->flag == 2 && total > 0.0) out[part->width - 1] = tw_largest(out, part->width - 1);
}

static inline double tw_seen(const tw_predictor *p, const double *x) {
  const double value = x[p->feature];
  if (p->role == 0) return tw_is_gap(value) ? p->fill : value;
  return p->role == 1 ? value == (double)p->code : tw_is_gap(value);
}

/* index: first term; count: terms; extra: first weight. */
static inline void tw_sum_terms(const tw_part *part, const double *x, double *out) {
  int t, f, k;
  for (k = 0; k < part->width; ++k) out[k] = 0.0;
  for (t = 0; t < part->count; ++t) {
    double product = 1.0;
    for (f = tw_terms[part->index + t]; f < tw_terms[part->index + t + 1]; ++f) {
      const tw_factor *factor = &tw_factors[f];
      double value = tw_seen(&tw_predictors[factor->predictor], x);
      if (factor->kind == 1) value = value - factor->knot;
      if (factor->kind == -1) value = factor->knot - value;
      product *= factor->kind != 2 && value < 0.0 ? 0.0 : value;
    }
    for (k = 0; k < part->width; ++k) out[k] += tw_weights[part->extra + k * part->count + t] * product;
  }
}

/* flag: 0 numbers, 1 vote, 2 strength; index: program; extra: first column. */
static inline void tw_inner(const tw_part *part, const double *x, double *out) {
  double numbers[TW_WIDTH];
  const int label = tw_run(part->index, x, numbers);
  int k;
  for (k = 0; k < part->width; ++k) out[k] = part->flag == 1 ? part->off : 0.0;
  if (part->flag == 0) {
    for (k = 0; k < part->count; ++k) out[tw_columns[part->extra + k]] = part->on * numbers[k];
  } else {
    out[tw_columns[part->extra + label]] = part->flag == 1 ? part->on : numbers[label];
  }
}

static inline void tw_numbers(const tw_part *part, const double *x, double *out) {
  if (part->kind == 1) tw_tree(tw_tree_roots[part->index], part->width, x, out);
  if (part->kind == 2) tw_rule_set(part, x, out);
  if (part->kind == 3) tw_sum_terms(part, x, out);
  if (part->kind == 4) tw_inner(part, x, out);
}

static inline double tw_median(const tw_program *p, const double *x) {
  double value[TW_PARTS] = {0.0}, weight[TW_PARTS] = {0.0}, own[TW_WIDTH] = {0.0}, total = 0.0, below = 0.0;
  int i, j;
  for (i = 0; i < p->n_parts; ++i) {
    double v, w = tw_weights[p->weight + i];
    tw_numbers(&tw_parts[p->part + i], x, own);
    v = own[0];
    for (j = i; j > 0 && value[j - 1] > v; --j) {
      value[j] = value[j - 1];
      weight[j] = weight[j - 1];
    }
    value[j] = v;
    weight[j] = w;
  }
  for (i = 0; i < p->n_parts; ++i) total += weight[i];
  for (i = 0; i < p->n_parts; ++i) {
    below += weight[i];
    if (below >= 0.5 * total) break;
  }
  return value[i < p->n_parts ? i : p->n_parts - 1];
}

static inline void tw_finish(const tw_program *p, const double *scores, double *numbers) {
  const int n = p->n_scores;
  double total = 0.0, top;
  int k;
  if (p->finish == 4) {
    const double s = p->scale * scores[0];
    const double second = s >= 0.0 ? 1.0 / (1.0 + exp(-s)) : exp(s) / (1.0 + exp(s));
    numbers[0] = 1.0 - second;
    numbers[1] = second;
    return;
  }
  top = p->scale * scores[tw_largest(scores, n)];
  for (k = 0; k < n; ++k) {
    numbers[k] = scores[k];
    if (p->finish == 1) numbers[k] = p->scale * scores[k] + p->offset;
    if (p->finish == 3) numbers[k] = exp(p->scale * scores[k] - top);
    if (p->finish == 5) numbers[k] = exp(p->scale * scores[k]);
    total += numbers[k];
  }
  if (p->finish == 2 || p->finish == 3) {
    for (k = 0; k < n; ++k) numbers[k] /= total;
  }
}

static inline int tw_least_cost(const tw_program *p, const double *numbers) {
  const int n = p->n_scores > 1 ? p->n_scores : 2;
  double least = 0.0;
  int i, j, best = 0;
  for (j = 0; j < n; ++j) {
    double cost = 0.0;
    for (i = 0; i < n; ++i) cost += numbers[i] * tw_costs[p->cost + i * n + j];
    if (j == 0 || cost < least) {
      least = cost;
      best = j;
    }
  }
  return best;
}

/* The numbers of a program, and the place of the class it decides for. */
static int tw_run(int index, const double *x, double *numbers) {
  const tw_program *p = &tw_programs[index];
  double scores[TW_WIDTH], own[TW_WIDTH];
  int i, k, label = 0;
  for (k = 0; k < p->n_scores; ++k) scores[k] = tw_starts[p->start + k];
  if (p->combine == 2) {
    scores[0] = tw_median(p, x);
  } else {
    for (i = p->part; i < p->part + p->n_parts; ++i) {
      const tw_part *part = &tw_parts[i];
      if (part->kind == 0 || part->kind == 5) {
        if (p->decide == 4) scores[p->n_scores] = 0.0;
        if (part->kind == 0) tw_cut_trees(part, x, scores);
        else tw_straight(part->index, x, scores);
        if (p->decide == 4) label = (int)scores[p->n_scores];
        continue;
      }
      tw_numbers(part, x, own);
      if (p->decide == 4) label = (int)own[p->n_scores];
      for (k = 0; k < part->width && part->column + k < p->n_scores; ++k) {
        scores[part->column + k] += own[k];
      }
    }
    if (p->combine == 1) {
      for (k = 0; k < p->n_scores; ++k) scores[k] /= p->n_members;
    }
  }
  tw_finish(p, scores, numbers);
  if (p->decide == 1) label = tw_largest(scores, p->n_scores);
  if (p->decide == 2) label = tw_largest(numbers, p->n_scores > 1 ? p->n_scores : 2);
  if (p->decide == 3) label = tw_least_cost(p, numbers);
  if (p->decide == 5) label = scores[0] > 0.0;
  return label;
}

/* A text as a number, NAN if it is none, or one of so many digits that a double may round it. */
static double tw_read(const char *text) {
  char *end;
  double value;
  if (strcmp(text, "True") == 0 || strcmp(text, "true") == 0) return 1.0;
  if (strcmp(text, "False") == 0 || strcmp(text, "false") == 0) return 0.0;
  value = strtod(text, &end);
  if (end == text || *end != '\0') return NAN;
  if (fabs(value) >= 9007199254740992.0 && text[strspn(text, "+-0123456789")] == '\0') return NAN;
  return value;
}

double @NAME@_code(int input, const char *category) {
  double value;
  int i;
  for (i = tw_category_offset[input]; i < tw_category_offset[input + 1]; ++i) {
    if (strcmp(tw_categories[i], category) == 0) return i - tw_category_offset[input];
  }
  value = tw_read(category);
  for (i = 0; i < TW_KNOWN; ++i) {
    if (tw_known[i].input == input && tw_known[i].value == value) return tw_known[i].code;
  }
  return NAN;
}

int @NAME@_predict(const double *x, double *numbers) { return tw_run(0, x, numbers); }
