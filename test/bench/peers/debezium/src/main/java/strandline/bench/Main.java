package strandline.bench;

import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Hands the rows of an outbox to a handler by Debezium's engine, until the handler has what it wants or standard input
 * ends. It judges nothing: what came is written down, and whoever started it looks at that.
 *
 * <p>Says {@code ready} on standard output when it looks for rows.
 */
public final class Main {
  /** The engine waits for its own threads for as long, and for a connection to the server that it gives up. */
  private static final long END_WITHIN_SECONDS = 60;

  private Main() {}

  public static void main(String[] args) throws Exception {
    Order order = Order.parse(args);
    Handler handler = Handler.of(order);
    AtomicReference<Throwable> failure = new AtomicReference<>();

    // The consumer is called with one record at a time, in the order of the log: `record.processing.order` is ORDERED.
    DebeziumEngine<RecordChangeEvent<SourceRecord>> engine =
        DebeziumEngine.create(ChangeEventFormat.of(Connect.class))
            .using(EngineSettings.of(order))
            .using(new Ready())
            .using(
                (success, message, error) -> {
                  if (!success) {
                    failure.set(error == null ? new IllegalStateException(message) : error);
                  }
                  handler.enough();
                })
            .notifying(event -> handler.handle(Row.of(event.record())))
            .build();
    ExecutorService thread = Executors.newSingleThreadExecutor();
    thread.execute(engine);
    endWithStandardInput(handler);

    handler.awaitEnough();
    // What goes wrong from here on is the engine being closed in the middle of its work.
    Throwable broken = failure.get();
    if (broken == null) {
      engine.close();
    }
    thread.shutdown();
    boolean ended = thread.awaitTermination(END_WITHIN_SECONDS, TimeUnit.SECONDS);
    handler.close();
    if (broken != null) {
      broken.printStackTrace();
    }
    // Threads of the connector that still wait for something would keep the process.
    Runtime.getRuntime().halt(broken == null && ended ? 0 : 1);
  }

  /** Whoever started this process ends it so, or is gone. */
  private static void endWithStandardInput(Handler handler) {
    Thread reader =
        new Thread(
            () -> {
              try {
                while (System.in.read() >= 0) {}
              } catch (java.io.IOException error) {
                // As good as its end.
              }
              handler.enough();
            });
    reader.setDaemon(true);
    reader.start();
  }

  private static final class Ready implements DebeziumEngine.ConnectorCallback {
    @Override
    public void pollingStarted() {
      System.out.println("ready");
    }
  }
}
