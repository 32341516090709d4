# Seconds of ranger's fits. Arguments: file of doubles by column, rows, columns, trees, threads, rounds.
arguments <- commandArgs(trailingOnly = TRUE)
shape <- as.integer(arguments[2:6])
values <- readBin(arguments[1], "double", shape[1] * shape[2], endian = "little")
frame <- as.data.frame(matrix(values, shape[1], shape[2]))
names(frame)[shape[2]] <- "y"
frame$y <- factor(frame$y)
for (round in seq_len(shape[5])) {
  took <- system.time(ranger::ranger(y ~ ., frame, num.trees = shape[3], num.threads = shape[4],
                                     probability = TRUE, min.node.size = 1, oob.error = FALSE))
  cat(took[["elapsed"]], "\n")
}
