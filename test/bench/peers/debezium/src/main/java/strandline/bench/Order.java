package strandline.bench;

import java.util.HashMap;
import java.util.Map;

/** What this process was asked to do: arguments as in {@code port=5432}. The password comes by the environment. */
record Order(Map<String, String> values) {
  static Order parse(String[] args) {
    Map<String, String> values = new HashMap<>();
    for (String arg : args) {
      int equals = arg.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException("not an argument of the form name=value: " + arg);
      }
      values.put(arg.substring(0, equals), arg.substring(equals + 1));
    }
    return new Order(values);
  }

  String text(String name) {
    String value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException("the argument " + name + " is missing");
    }
    return value;
  }

  int number(String name) {
    return Integer.parseInt(text(name));
  }

  static String password() {
    return System.getenv().getOrDefault("DATABASE_PASSWORD", "");
  }
}
