package strandline.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** What is done with the rows. Called by one thread at a time. */
abstract class Handler implements AutoCloseable {
  private final CountDownLatch over = new CountDownLatch(1);

  static Handler of(Order order) throws IOException {
    Path file = Path.of(order.text("file"));
    return switch (order.text("task")) {
      case "speed" ->
          new SpeedHandler(
              file, order.number("rows"), order.number("limit"), order.number("ordinal.at"));
      case "history" -> new HistoryHandler(file, order.number("run"), order.number("work"));
      default -> throw new IllegalArgumentException("no such task: " + order.text("task"));
    };
  }

  abstract void handle(Row row);

  /** No more rows are wanted. */
  final void enough() {
    over.countDown();
  }

  final boolean isEnough() {
    return over.getCount() == 0;
  }

  /** Returns when no more rows are wanted. */
  void awaitEnough() throws InterruptedException {
    over.await();
  }

  @Override
  public abstract void close() throws IOException;
}
