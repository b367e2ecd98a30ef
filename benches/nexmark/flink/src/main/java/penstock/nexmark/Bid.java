package penstock.nexmark;

/** A price that somebody offers in an auction. */
public class Bid {
  public long auction;
  public long bidder;
  public long price;
  public String channel;
  public String url;
  public long dateTime;
  public String extra;

  @Override
  public String toString() {
    return auction + "|" + bidder + "|" + price + "|" + channel + "|" + url + "|" + dateTime + "|" + extra;
  }
}
