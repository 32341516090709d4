# Times rpart on a table, then fits one half of it and scores the other.
# Arguments: the table (CSV; columns .target and .half), cp, number of fits.
# Prints one line: accuracy, leaves, then the seconds of each fit, the fit alone.
arguments <- commandArgs(trailingOnly = TRUE)
library(rpart)
all <- read.csv(arguments[1], na.strings = "", stringsAsFactors = TRUE, check.names = FALSE)
half <- all$.half
all <- all[names(all) != ".half"]
control <- rpart.control(
  minsplit = 20, minbucket = 7, cp = as.numeric(arguments[2]), xval = 0,
  maxsurrogate = 5, usesurrogate = 2, maxcompete = 0, maxdepth = 30
)
fit <- function(rows) rpart(.target ~ ., rows, method = "class", control = control)
seconds <- numeric(0)
for (i in seq_len(as.integer(arguments[3]))) {
  took <- system.time(whole <- fit(all))
  seconds <- c(seconds, took[["elapsed"]])
}
test <- all[half == 1, ]
accuracy <- mean(predict(fit(all[half == 0, ]), test, type = "class") == test$.target)
cat(accuracy, sum(whole$frame$var == "<leaf>"), seconds, "\n")
