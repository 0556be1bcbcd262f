package strandline.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Properties;

/** The engine as Debezium's documentation sets it up. What is not named has its default. */
final class EngineSettings {
  /** Of the engine, and in front of the names of its topics. */
  private static final String NAME = "bench";

  /**
   * Milliseconds that a batch waits to be full. By default it is half a second, in which a backlog's last batch would
   * stand still.
   */
  private static final String WAIT_FOR_BATCH = "50";

  private EngineSettings() {}

  static Properties of(Order order) throws IOException {
    Properties settings = new Properties();
    settings.setProperty("name", NAME);
    settings.setProperty("topic.prefix", NAME);
    settings.setProperty("tombstones.on.delete", "false");
    settings.setProperty("poll.interval.ms", WAIT_FOR_BATCH);
    server(settings, order);
    offsets(settings, order);
    switch (order.text("kind")) {
      case "postgres" -> postgres(settings, order);
      case "mysql" -> mysql(settings, order);
      default -> throw new IllegalArgumentException("no such database: " + order.text("kind"));
    }
    router(settings, order);
    return settings;
  }

  private static void server(Properties settings, Order order) {
    settings.setProperty("database.hostname", order.text("host"));
    settings.setProperty("database.port", order.text("port"));
    settings.setProperty("database.user", order.text("user"));
    settings.setProperty("database.password", Order.password());
  }

  private static void offsets(Properties settings, Order order) {
    settings.setProperty(
        "offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore");
    settings.setProperty("offset.storage.file.filename", order.text("offsets"));
    settings.setProperty("offset.flush.interval.ms", order.text("flush"));
  }

  /** Without an offset it begins where the slot does. */
  private static void postgres(Properties settings, Order order) {
    settings.setProperty(
        "connector.class", "io.debezium.connector.postgresql.PostgresConnector");
    settings.setProperty("database.dbname", order.text("database"));
    settings.setProperty("plugin.name", "pgoutput");
    settings.setProperty("slot.name", order.text("slot"));
    settings.setProperty("publication.name", order.text("publication"));
    settings.setProperty("publication.autocreate.mode", "disabled");
    settings.setProperty("table.include.list", "public.outbox");
    settings.setProperty("snapshot.mode", "no_data");
  }

  /**
   * It begins at the start of a file of the binlog, which an offset has to say. Of the tables it then knows nothing, and
   * asks the server once: that is what {@code recovery} is for.
   */
  private static void mysql(Properties settings, Order order) throws IOException {
    Path offsets = Path.of(order.text("offsets"));
    FirstOffset.write(offsets, NAME, order.text("log"), order.text("executed"));
    settings.setProperty("connector.class", "io.debezium.connector.mysql.MySqlConnector");
    settings.setProperty("database.server.id", order.text("server.id"));
    settings.setProperty("database.include.list", order.text("database"));
    settings.setProperty("table.include.list", order.text("database") + ".outbox");
    settings.setProperty("database.ssl.mode", "disabled");
    settings.setProperty("driver.allowPublicKeyRetrieval", "true");
    settings.setProperty("include.schema.changes", "false");
    settings.setProperty(
        "schema.history.internal", "io.debezium.storage.file.history.FileSchemaHistory");
    settings.setProperty("schema.history.internal.file.filename", offsets + "-schema");
    settings.setProperty("snapshot.mode", "recovery");
  }

  /** The columns of the outbox by the names that the router has for them. */
  private static void router(Properties settings, Order order) {
    settings.setProperty("transforms", "outbox");
    settings.setProperty("transforms.outbox.type", "io.debezium.transforms.outbox.EventRouter");
    settings.setProperty("transforms.outbox.table.field.event.id", "id");
    settings.setProperty("transforms.outbox.table.field.event.key", "key");
    settings.setProperty("transforms.outbox.table.field.event.payload", "payload");
    settings.setProperty("transforms.outbox.route.by.field", order.text("route"));
  }
}
