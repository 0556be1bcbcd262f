package strandline.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Writes down the start and the end of each call before it goes on, and takes a random while in between. */
final class HistoryHandler extends Handler {
  private final FileChannel history;
  private final Random random = new Random();
  private final int run;
  private final int work;

  /**
   * @param file is appended to
   * @param run counts the lives of this process
   * @param work milliseconds that a call takes at most
   */
  HistoryHandler(Path file, int run, int work) throws IOException {
    this.history =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    this.run = run;
    this.work = work;
  }

  @Override
  void handle(Row row) {
    try {
      note("started", row);
      if (work > 0) TimeUnit.NANOSECONDS.sleep(random.nextLong(TimeUnit.MILLISECONDS.toNanos(work)));
      note("succeeded", row);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private void note(String what, Row row) throws IOException {
    String line =
        String.format(
            Locale.ROOT,
            "[\"%s\",%d,1,%d,\"%s\",[\"%s\"],[\"\"]]\n",
            what, run, System.currentTimeMillis(), row.key(), row.id());
    history.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII)));
  }

  @Override
  public void close() throws IOException {
    history.close();
  }
}
