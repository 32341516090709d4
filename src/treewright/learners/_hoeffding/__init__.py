"""Parts of Hoeffding trees: the stream behind an estimator, and the tree that it is."""
