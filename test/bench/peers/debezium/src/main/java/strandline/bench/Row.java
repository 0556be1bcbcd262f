package strandline.bench;

import org.apache.kafka.connect.source.SourceRecord;

/** An event as the outbox event router has made it: key and payload are the record's, and the id is in a header. */
record Row(SourceRecord record) {
  static Row of(SourceRecord record) {
    return new Row(record);
  }

  /** As text. */
  String key() {
    return String.valueOf(record.key());
  }

  /** Where keys are numbers. */
  int keyNumber() {
    return ((Number) record.key()).intValue();
  }

  String id() {
    return String.valueOf(record.headers().lastWithName("id").value());
  }

  String payload() {
    return (String) record.value();
  }
}
