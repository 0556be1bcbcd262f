package strandline.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Does nothing but note which row of which key came, in memory. The file is written at the end: the moments of the first
 * and the last row in nanoseconds of the monotonic clock, the processor time of this process between the two in
 * nanoseconds, and then the key and the ordinal of each row in the order of the calls. 64 bits and 32 bits, low byte
 * first.
 */
final class SpeedHandler extends Handler {
  private static final long LOOK_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final int HEAD = 3 * Long.BYTES;

  private final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private final Path file;
  private final int[] keys;
  private final int[] ordinals;
  private final long limitNanos;
  private final int ordinalAt;

  private int seen;
  private volatile boolean begun;
  private boolean over;
  private long startedAt;
  private long endedAt;
  private long cpu;

  /**
   * @param rows after which it is enough
   * @param limit milliseconds after the first row, after which it is enough as well
   * @param ordinalAt where in the payload the digits of the ordinal begin
   */
  SpeedHandler(Path file, int rows, int limit, int ordinalAt) {
    this.file = file;
    this.keys = new int[rows];
    this.ordinals = new int[rows];
    this.limitNanos = TimeUnit.MILLISECONDS.toNanos(limit);
    this.ordinalAt = ordinalAt;
  }

  @Override
  synchronized void handle(Row row) {
    if (over) return;
    if (seen == 0) start();
    keys[seen] = row.keyNumber();
    ordinals[seen] = ordinalOf(row.payload());
    seen += 1;
    if (seen == keys.length) end();
  }

  private int ordinalOf(String payload) {
    int ordinal = 0;
    for (int at = ordinalAt; at < payload.length(); at += 1) {
      int digit = payload.charAt(at) - '0';
      if (digit < 0 || digit > 9) break;
      ordinal = ordinal * 10 + digit;
    }
    return ordinal;
  }

  private void start() {
    cpu = system.getProcessCpuTime();
    startedAt = System.nanoTime();
    begun = true;
  }

  private synchronized void end() {
    if (over) return;
    over = true;
    endedAt = System.nanoTime();
    cpu = system.getProcessCpuTime() - cpu;
    enough();
  }

  @Override
  void awaitEnough() throws InterruptedException {
    while (!isEnough()) {
      LockSupport.parkNanos(LOOK_EVERY_NANOS);
      if (begun && System.nanoTime() - startedAt > limitNanos) end();
    }
    end();
  }

  @Override
  public void close() throws IOException {
    ByteBuffer bytes =
        ByteBuffer.allocate(HEAD + seen * 2 * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(startedAt).putLong(endedAt).putLong(cpu);
    for (int row = 0; row < seen; row += 1) bytes.putInt(keys[row]).putInt(ordinals[row]);
    bytes.flip();
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      while (bytes.hasRemaining()) channel.write(bytes);
    }
  }
}
