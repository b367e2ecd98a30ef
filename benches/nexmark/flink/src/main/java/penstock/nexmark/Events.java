package penstock.nexmark;

import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.formats.parquet.ParquetColumnarRowInputFormat;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.hadoop.conf.Configuration;

/** The events as streams: out of one log of lines, or out of a Parquet table per kind. */
abstract class Events {
  private static final Duration DISORDER = Duration.ofSeconds(4);
  private static final int BATCH = 2048;

  final StreamExecutionEnvironment env;
  final String folder;

  private Events(StreamExecutionEnvironment env, String folder) {
    this.env = env;
    this.folder = folder;
  }

  static Events of(StreamExecutionEnvironment env, String format, String folder) {
    return switch (format) {
      case "csv" -> new Log(env, folder);
      case "jsonl" -> new JsonLog(env, folder);
      case "parquet" -> new Tables(env, folder);
      default -> throw new IllegalArgumentException("There is no format " + format);
    };
  }

  abstract DataStream<Person> persons();

  abstract DataStream<Auction> auctions();

  abstract DataStream<Bid> bids();

  DataStream<Person> timedPersons() {
    return persons()
        .assignTimestampsAndWatermarks(
            WatermarkStrategy.<Person>forBoundedOutOfOrderness(DISORDER).withTimestampAssigner((person, t) -> person.dateTime));
  }

  DataStream<Auction> timedAuctions() {
    return auctions()
        .assignTimestampsAndWatermarks(
            WatermarkStrategy.<Auction>forBoundedOutOfOrderness(DISORDER).withTimestampAssigner((auction, t) -> auction.dateTime));
  }

  DataStream<Bid> timedBids() {
    return bids()
        .assignTimestampsAndWatermarks(
            WatermarkStrategy.<Bid>forBoundedOutOfOrderness(DISORDER).withTimestampAssigner((bid, t) -> bid.dateTime));
  }

  DataStream<String> lines(String format) {
    return lines(env, new Path(folder, format));
  }

  static DataStream<String> lines(StreamExecutionEnvironment env, Path path) {
    FileSource<String> source =
        FileSource.forRecordStreamFormat(new TextLineInputFormat(), path)
            .setSplitAssigner(InOrder::new)
            .build();
    return env.fromSource(source, WatermarkStrategy.noWatermarks(), "events");
  }

  private static final class Log extends Events {
    private final DataStream<String> lines;

    Log(StreamExecutionEnvironment env, String folder) {
      super(env, folder);
      lines = lines("csv");
    }

    @Override
    DataStream<Person> persons() {
      return lines.filter(line -> line.charAt(0) == '0').map(Csv::person).returns(Person.class);
    }

    @Override
    DataStream<Auction> auctions() {
      return lines.filter(line -> line.charAt(0) == '1').map(Csv::auction).returns(Auction.class);
    }

    @Override
    DataStream<Bid> bids() {
      return lines.filter(line -> line.charAt(0) == '2').map(Csv::bid).returns(Bid.class);
    }
  }

  private static final class JsonLog extends Events {
    private final DataStream<Object> events;

    JsonLog(StreamExecutionEnvironment env, String folder) {
      super(env, folder);
      events = lines("jsonl").map(Json::event).returns(Object.class);
    }

    @Override
    DataStream<Person> persons() {
      return events.filter(event -> event instanceof Person).map(event -> (Person) event).returns(Person.class);
    }

    @Override
    DataStream<Auction> auctions() {
      return events.filter(event -> event instanceof Auction).map(event -> (Auction) event).returns(Auction.class);
    }

    @Override
    DataStream<Bid> bids() {
      return events.filter(event -> event instanceof Bid).map(event -> (Bid) event).returns(Bid.class);
    }
  }

  private static final class Tables extends Events {
    private static final LogicalType LONG = new BigIntType();
    private static final LogicalType TEXT = VarCharType.STRING_TYPE;
    private static final RowType PERSON =
        RowType.of(
            new LogicalType[] {LONG, TEXT, TEXT, TEXT, TEXT, TEXT, LONG, TEXT},
            new String[] {"id", "name", "emailAddress", "creditCard", "city", "state", "dateTime", "extra"});
    private static final RowType AUCTION =
        RowType.of(
            new LogicalType[] {LONG, TEXT, TEXT, LONG, LONG, LONG, LONG, LONG, LONG, TEXT},
            new String[] {
              "id", "itemName", "description", "initialBid", "reserve", "dateTime", "expires", "seller", "category", "extra"
            });
    private static final RowType BID =
        RowType.of(
            new LogicalType[] {LONG, LONG, LONG, TEXT, TEXT, LONG, TEXT},
            new String[] {"auction", "bidder", "price", "channel", "url", "dateTime", "extra"});

    Tables(StreamExecutionEnvironment env, String folder) {
      super(env, folder);
    }

    @Override
    DataStream<Person> persons() {
      return table("person", PERSON, Tables::person, Person.class);
    }

    @Override
    DataStream<Auction> auctions() {
      return table("auction", AUCTION, Tables::auction, Auction.class);
    }

    @Override
    DataStream<Bid> bids() {
      return table("bid", BID, Tables::bid, Bid.class);
    }

    private <T> DataStream<T> table(String name, RowType type, MapFunction<RowData, T> event, Class<T> kind) {
      ParquetColumnarRowInputFormat<FileSourceSplit> format =
          new ParquetColumnarRowInputFormat<>(new Configuration(), type, InternalTypeInfo.of(type), BATCH, true, true);
      FileSource<RowData> source =
          FileSource.forBulkFileFormat(format, new Path(folder, "parquet/" + name)).setSplitAssigner(InOrder::new).build();
      return env.fromSource(source, WatermarkStrategy.noWatermarks(), name).map(event).returns(TypeInformation.of(kind));
    }

    private static Person person(RowData row) {
      Person person = new Person();
      person.id = row.getLong(0);
      person.name = row.getString(1).toString();
      person.emailAddress = row.getString(2).toString();
      person.creditCard = row.getString(3).toString();
      person.city = row.getString(4).toString();
      person.state = row.getString(5).toString();
      person.dateTime = row.getLong(6);
      person.extra = row.getString(7).toString();
      return person;
    }

    private static Auction auction(RowData row) {
      Auction auction = new Auction();
      auction.id = row.getLong(0);
      auction.itemName = row.getString(1).toString();
      auction.description = row.getString(2).toString();
      auction.initialBid = row.getLong(3);
      auction.reserve = row.getLong(4);
      auction.dateTime = row.getLong(5);
      auction.expires = row.getLong(6);
      auction.seller = row.getLong(7);
      auction.category = row.getLong(8);
      auction.extra = row.getString(9).toString();
      return auction;
    }

    private static Bid bid(RowData row) {
      Bid bid = new Bid();
      bid.auction = row.getLong(0);
      bid.bidder = row.getLong(1);
      bid.price = row.getLong(2);
      bid.channel = row.getString(3).toString();
      bid.url = row.getString(4).toString();
      bid.dateTime = row.getLong(5);
      bid.extra = row.getString(6).toString();
      return bid;
    }
  }
}
