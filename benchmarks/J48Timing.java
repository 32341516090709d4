// Times J48 of Weka on one half of a table and scores it on the other.
// Arguments: the training rows and the test rows (ARFF, the class last), number of fits.
// Prints one line: accuracy, leaves, then the seconds of each fit, the fit alone.
import java.io.BufferedReader;
import java.io.FileReader;
import weka.classifiers.trees.J48;
import weka.core.Instances;

public class J48Timing {
  static Instances read(String path) throws Exception {
    Instances rows = new Instances(new BufferedReader(new FileReader(path)));
    rows.setClassIndex(rows.numAttributes() - 1);
    return rows;
  }

  public static void main(String[] arguments) throws Exception {
    Instances train = read(arguments[0]);
    Instances test = read(arguments[1]);
    StringBuilder seconds = new StringBuilder();
    J48 model = new J48();
    for (int i = 0; i < Integer.parseInt(arguments[2]); ++i) {
      model = new J48();
      long start = System.nanoTime();
      model.buildClassifier(train);
      seconds.append(" ").append((System.nanoTime() - start) / 1e9);
    }
    int right = 0;
    for (int i = 0; i < test.numInstances(); ++i) {
      if (model.classifyInstance(test.instance(i)) == test.instance(i).classValue()) ++right;
    }
    System.out.println((double) right / test.numInstances() + " " + (int) model.measureNumLeaves() + seconds);
  }
}
