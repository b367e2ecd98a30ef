package penstock.nexmark;

/** Takes events out of lines of the log. */
final class Csv {
  private final String line;
  private int at = 2; // behind the letter that says what it is

  private Csv(String line) {
    this.line = line;
  }

  static Person person(String line) {
    Csv fields = new Csv(line);
    Person person = new Person();
    person.id = fields.number();
    person.name = fields.text();
    person.emailAddress = fields.text();
    person.creditCard = fields.text();
    person.city = fields.text();
    person.state = fields.text();
    person.dateTime = fields.number();
    person.extra = fields.text();
    return person;
  }

  static Auction auction(String line) {
    Csv fields = new Csv(line);
    Auction auction = new Auction();
    auction.id = fields.number();
    auction.itemName = fields.text();
    auction.description = fields.text();
    auction.initialBid = fields.number();
    auction.reserve = fields.number();
    auction.dateTime = fields.number();
    auction.expires = fields.number();
    auction.seller = fields.number();
    auction.category = fields.number();
    auction.extra = fields.text();
    return auction;
  }

  static Bid bid(String line) {
    Csv fields = new Csv(line);
    Bid bid = new Bid();
    bid.auction = fields.number();
    bid.bidder = fields.number();
    bid.price = fields.number();
    bid.channel = fields.text();
    bid.url = fields.text();
    bid.dateTime = fields.number();
    bid.extra = fields.text();
    return bid;
  }

  private String text() {
    int begin = at;
    return line.substring(begin, end());
  }

  private long number() {
    int begin = at;
    return Long.parseLong(line, begin, end(), 10);
  }

  private int end() {
    int comma = line.indexOf(',', at);
    int end = comma < 0 ? line.length() : comma;
    at = end + 1;
    return end;
  }
}
