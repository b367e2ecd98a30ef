package penstock.peer;

import java.util.HexFormat;

/** Bytes as text. */
final class Hex {
    private Hex() {}

    static String of(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
