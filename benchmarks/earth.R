# Times earth on a table. Arguments: the table (CSV; the last column is the response), number of fits.
# Prints one line: GCV, terms, then the seconds of each fit, the fit alone.
arguments <- commandArgs(trailingOnly = TRUE)
suppressMessages(library(earth))
train <- read.csv(arguments[1], check.names = FALSE)
x <- as.matrix(train[, -ncol(train)])
y <- train[, ncol(train)]
seconds <- numeric(0)
for (i in seq_len(as.integer(arguments[2]))) {
  took <- system.time(fit <- earth(x, y, degree = 2))
  seconds <- c(seconds, took[["elapsed"]])
}
cat(format(fit$gcv, digits = 12), length(fit$selected.terms), seconds, "\n")
