# Seconds of ranger's fits. Arguments: file of doubles by column, rows, columns, trees, threads, rounds,
# and whether the target is "classes" or "numbers".
arguments <- commandArgs(trailingOnly = TRUE)
shape <- as.integer(arguments[2:6])
classes <- arguments[7] == "classes"
values <- readBin(arguments[1], "double", shape[1] * shape[2], endian = "little")
frame <- as.data.frame(matrix(values, shape[1], shape[2]))
names(frame)[shape[2]] <- "y"
if (classes) frame$y <- factor(frame$y)
drawn <- if (classes) NULL else (shape[2] - 1) %/% 3
for (round in seq_len(shape[5])) {
  took <- system.time(ranger::ranger(y ~ ., frame, num.trees = shape[3], num.threads = shape[4],
                                     mtry = drawn, probability = classes, min.node.size = 1,
                                     oob.error = FALSE, verbose = FALSE))
  cat(took[["elapsed"]], "\n")
}
