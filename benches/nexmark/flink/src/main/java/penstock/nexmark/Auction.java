package penstock.nexmark;

/** Something for sale. */
public class Auction {
  public long id;
  public String itemName;
  public String description;
  public long initialBid;
  public long reserve;
  public long dateTime;
  public long expires;
  public long seller;
  public long category;
  public String extra;

  @Override
  public String toString() {
    return id + "|" + withoutId();
  }

  String withoutId() {
    return itemName + "|" + description + "|" + initialBid + "|" + reserve + "|" + dateTime + "|" + expires + "|" + seller
        + "|" + category + "|" + extra;
  }
}
