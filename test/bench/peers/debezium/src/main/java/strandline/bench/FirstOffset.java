package strandline.bench;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Says where a binlog is to be read from, in the form of Kafka Connect's file of offsets. */
final class FirstOffset {
  /** Where each file's first event lies, behind its magic number. */
  private static final int POSITION = 4;

  private FirstOffset() {}

  /**
   * @param name of the engine, and in front of its topics
   * @param log the file of the binlog
   * @param executed the GTIDs that are not wanted any more; the engine can't begin with none
   */
  static void write(Path file, String name, String log, String executed) throws IOException {
    String partition = "[\"%1$s\",{\"server\":\"%1$s\"}]".formatted(name);
    String offset = "{\"file\":\"%s\",\"pos\":%d,\"gtids\":\"%s\"}".formatted(log, POSITION, executed);
    Map<byte[], byte[]> offsets = new HashMap<>();
    offsets.put(bytes(partition), bytes(offset));
    try (ObjectOutputStream stream = new ObjectOutputStream(Files.newOutputStream(file))) {
      stream.writeObject(offsets);
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
