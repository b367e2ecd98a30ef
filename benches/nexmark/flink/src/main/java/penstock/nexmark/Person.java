package penstock.nexmark;

/** Somebody who sells or bids. */
public class Person {
  public long id;
  public String name;
  public String emailAddress;
  public String creditCard;
  public String city;
  public String state;
  public long dateTime;
  public String extra;

  @Override
  public String toString() {
    return id + "|" + name + "|" + emailAddress + "|" + creditCard + "|" + city + "|" + state + "|" + dateTime + "|" + extra;
  }
}
