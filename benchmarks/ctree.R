# Times partykit's ctree on a table. Arguments: the table (CSV; column .target), number of fits.
# Prints one line: leaves, then the seconds of each fit, the fit alone.
arguments <- commandArgs(trailingOnly = TRUE)
suppressMessages(library(partykit))
train <- read.csv(arguments[1], stringsAsFactors = TRUE, check.names = FALSE)
train$.target <- factor(train$.target)
seconds <- numeric(0)
for (i in seq_len(as.integer(arguments[2]))) {
  took <- system.time(fit <- ctree(.target ~ ., train))
  seconds <- c(seconds, took[["elapsed"]])
}
cat(width(fit), seconds, "\n")
