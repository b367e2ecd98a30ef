package penstock.nexmark;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/** Takes events out of lines of JSON: {"event_type":2,"bid":{…}}. */
final class Json {
  private static final JsonFactory FACTORY = new JsonFactory();

  private Json() {}

  /** A Person, an Auction or a Bid. */
  static Object event(String line) throws IOException {
    try (JsonParser parser = FACTORY.createParser(line)) {
      parser.nextToken();
      parser.nextToken();
      int type = parser.nextIntValue(-1);
      parser.nextToken();
      parser.nextToken();
      return switch (type) {
        case 0 -> person(parser);
        case 1 -> auction(parser);
        case 2 -> bid(parser);
        default -> throw new IOException("No event: " + line);
      };
    }
  }

  private static Person person(JsonParser parser) throws IOException {
    Person person = new Person();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      switch (next(parser)) {
        case "id" -> person.id = parser.getLongValue();
        case "name" -> person.name = parser.getText();
        case "emailAddress" -> person.emailAddress = parser.getText();
        case "creditCard" -> person.creditCard = parser.getText();
        case "city" -> person.city = parser.getText();
        case "state" -> person.state = parser.getText();
        case "dateTime" -> person.dateTime = parser.getLongValue();
        case "extra" -> person.extra = parser.getText();
        default -> parser.skipChildren();
      }
    }
    return person;
  }

  private static Auction auction(JsonParser parser) throws IOException {
    Auction auction = new Auction();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      switch (next(parser)) {
        case "id" -> auction.id = parser.getLongValue();
        case "itemName" -> auction.itemName = parser.getText();
        case "description" -> auction.description = parser.getText();
        case "initialBid" -> auction.initialBid = parser.getLongValue();
        case "reserve" -> auction.reserve = parser.getLongValue();
        case "dateTime" -> auction.dateTime = parser.getLongValue();
        case "expires" -> auction.expires = parser.getLongValue();
        case "seller" -> auction.seller = parser.getLongValue();
        case "category" -> auction.category = parser.getLongValue();
        case "extra" -> auction.extra = parser.getText();
        default -> parser.skipChildren();
      }
    }
    return auction;
  }

  private static Bid bid(JsonParser parser) throws IOException {
    Bid bid = new Bid();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      switch (next(parser)) {
        case "auction" -> bid.auction = parser.getLongValue();
        case "bidder" -> bid.bidder = parser.getLongValue();
        case "price" -> bid.price = parser.getLongValue();
        case "channel" -> bid.channel = parser.getText();
        case "url" -> bid.url = parser.getText();
        case "dateTime" -> bid.dateTime = parser.getLongValue();
        case "extra" -> bid.extra = parser.getText();
        default -> parser.skipChildren();
      }
    }
    return bid;
  }

  /** The name of the current field; the parser goes to its value. */
  private static String next(JsonParser parser) throws IOException {
    String name = parser.currentName();
    parser.nextToken();
    return name;
  }
}
