from treewright.scale._predict import Predicted, predict_files

__all__ = ["Predicted", "predict_files"]
