# partykit's picture of rpart's tree on iris: Rscript docs/scripts/same_tree.R FILE.png
library(rpart)
library(partykit)
tree <- rpart(Species ~ ., iris, maxdepth = 3, minsplit = 2, minbucket = 1, cp = 0.005)
png(commandArgs(TRUE)[1], width = 900, height = 520, pointsize = 13)
plot(as.party(tree))
invisible(dev.off())
