# Times rpart on one half of a table and scores it on the other.
# Arguments: the table (CSV; columns .target and .half), cp, number of fits.
# Prints one line: accuracy, leaves, then the seconds of each fit, the fit alone.
arguments <- commandArgs(trailingOnly = TRUE)
library(rpart)
all <- read.csv(arguments[1], na.strings = "", stringsAsFactors = TRUE, check.names = FALSE)
train <- all[all$.half == 0, names(all) != ".half"]
test <- all[all$.half == 1, names(all) != ".half"]
control <- rpart.control(
  minsplit = 20, minbucket = 7, cp = as.numeric(arguments[2]), xval = 0,
  maxsurrogate = 5, usesurrogate = 2, maxcompete = 0, maxdepth = 30
)
seconds <- numeric(0)
for (i in seq_len(as.integer(arguments[3]))) {
  took <- system.time(fit <- rpart(.target ~ ., train, method = "class", control = control))
  seconds <- c(seconds, took[["elapsed"]])
}
accuracy <- mean(predict(fit, test, type = "class") == test$.target)
cat(accuracy, sum(fit$frame$var == "<leaf>"), seconds, "\n")
