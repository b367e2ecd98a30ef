//! Columns against lists of values.

use bumpalo::Bump;
use proptest::prelude::*;

use super::{Builder, Column, Data, Refusal, Strings};
use crate::program::Constant;
use crate::value::{DAY, DAYS, Moment, Unit, Value};

fn text() -> impl Strategy<Value = Constant> {
    prop_oneof![Just(String::new()), "[a-zäß🦀]{0,6}"].prop_map(|text| Constant::Text(text.into()))
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![Just(f64::NAN), Just(-0.0), Just(f64::INFINITY), any::<f64>()]
}

/// Values of one type, some of them None.
fn values() -> impl Strategy<Value = Vec<Constant>> {
    let leaf = prop_oneof![
        prop::collection::vec(any::<i64>().prop_map(Constant::Int), 12),
        prop::collection::vec(float().prop_map(Constant::Float), 12),
        prop::collection::vec(any::<bool>().prop_map(Constant::Bool), 12),
        prop::collection::vec(text(), 12),
        prop::collection::vec((0..DAYS).prop_map(|day| Constant::Moment(Moment::Day(day))), 12),
        prop::collection::vec((0..DAYS * DAY).prop_map(|time| Constant::Moment(Moment::At(time, None))), 12),
        prop::collection::vec((0..DAY).prop_map(|time| Constant::Moment(Moment::Clock(time))), 12),
        prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4).prop_map(|bytes| Constant::Bytes(bytes.into())), 12),
        Just(vec![Constant::None; 12]),
    ];
    let absent = |(values, mask): (Vec<Constant>, Vec<bool>)| -> Vec<Constant> {
        values.into_iter().zip(mask).map(|(value, present)| if present { value } else { Constant::None }).collect()
    };
    let mask = || prop_oneof![Just(vec![true; 12]), prop::collection::vec(any::<bool>(), 12)];
    let transposed = |fields: Vec<Vec<Constant>>| -> Vec<Constant> {
        (0..12).map(|row| Constant::Tuple(fields.iter().map(|field| field[row].clone()).collect())).collect()
    };
    let lists = |(items, lengths): (Vec<Constant>, Vec<usize>)| -> Vec<Constant> {
        lengths.into_iter().map(|length| Constant::List(items[..length].into())).collect()
    };
    leaf.prop_recursive(3, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(transposed),
            (inner.clone(), prop::collection::vec(0..12usize, 12)).prop_map(lists),
            (inner, mask()).prop_map(absent),
        ]
    })
}

fn column(values: &[Constant]) -> Column {
    let (mut builder, arena) = (Builder::new(), Bump::new());
    for value in values {
        builder.push(value.value(&arena)).expect("it fits");
    }
    builder.finish()
}

fn shown(column: &Column) -> Vec<String> {
    let arena = Bump::new();
    (0..column.len()).map(|row| format!("{:?}", column.get(row, &arena))).collect()
}

fn expected(values: &[Constant]) -> Vec<String> {
    let arena = Bump::new();
    values.iter().map(|value| format!("{:?}", value.value(&arena))).collect()
}

proptest! {
    #[test]
    fn values_come_back(values in values()) {
        prop_assert_eq!(shown(&column(&values)), expected(&values));
    }

    #[test]
    fn parts_are_those_of_lists(values in values(), range in (0..12usize, 0..13usize), rows in prop::collection::vec(0..12usize, 0..20)) {
        let column = column(&values);
        let (start, end) = (range.0.min(range.1), range.1);
        let slice = column.slice(start, end);
        prop_assert_eq!(shown(&slice), expected(&values[start..end]));
        let taken: Vec<Constant> = rows.iter().map(|&row| values[row].clone()).collect();
        prop_assert_eq!(shown(&column.take(&rows).expect("they are there")), expected(&taken));
        let rows: Vec<usize> = rows.into_iter().filter(|&row| row < end - start).collect();
        let taken: Vec<Constant> = rows.iter().map(|&row| values[start + row].clone()).collect();
        prop_assert_eq!(shown(&slice.take(&rows).expect("they are there")), expected(&taken));
    }

    #[test]
    fn slices_are_put_together(values in values(), cuts in prop::collection::vec(0..13usize, 0..5)) {
        let column = column(&values);
        let mut cuts = cuts;
        cuts.extend([0, 12]);
        cuts.sort_unstable();
        let parts: Vec<Column> = cuts.windows(2).map(|pair| column.slice(pair[0], pair[1])).collect();
        let whole = Column::concat(&parts.iter().collect::<Vec<_>>()).expect("they are of one type");
        prop_assert_eq!(shown(&whole), expected(&values));
    }

    #[test]
    fn what_is_taken_back_was_never_there(first in values(), second in values(), kept in 0..12usize) {
        let (mut builder, arena) = (Builder::new(), Bump::new());
        first.iter().for_each(|value| builder.push(value.value(&arena)).expect("it fits"));
        builder.truncate(kept);
        for value in &second {
            let before = builder.len();
            if builder.push(value.value(&arena)).is_err() {
                prop_assert_eq!(builder.len(), before);
            }
        }
        let again = builder.finish();
        let (mut fresh, mut model) = (Builder::new(), Vec::new());
        for value in first[..kept].iter().chain(&second) {
            if fresh.push(value.value(&arena)).is_ok() {
                model.push(value.clone());
            }
        }
        prop_assert_eq!(shown(&again), expected(&model));
        prop_assert_eq!(shown(&fresh.finish()), expected(&model));
    }

    #[test]
    fn copies_are_equal(values in values()) {
        let column = column(&values);
        let mut builder = Builder::new();
        (0..12).for_each(|row| builder.copy(&column, row).expect("it fits"));
        prop_assert_eq!(shown(&builder.finish()), expected(&values));
    }
}

#[test]
fn other_types_do_not_fit() {
    let mut builder = Builder::new();
    builder.push(Value::None).expect("None fits");
    builder.push(Value::Tuple(&[Value::Int(1), Value::None])).expect("a tuple fits");
    assert_eq!(builder.push(Value::Tuple(&[Value::Int(1)])), Err(Refusal::Misfit));
    assert_eq!(builder.push(Value::Tuple(&[Value::Float(1.0), Value::None])), Err(Refusal::Misfit));
    assert_eq!(builder.push(Value::Tuple(&[Value::Int(1), Value::Dict(&[])])), Err(Refusal::Doubt));
    assert_eq!(builder.push(Value::Bool(true)), Err(Refusal::Misfit));
    assert_eq!(builder.push(Value::Moment(Moment::Day(1))), Err(Refusal::Misfit));
    builder.push(Value::Tuple(&[Value::None, Value::Text("a")])).expect("the second field was free");
    assert_eq!(shown(&builder.finish()).len(), 3);
}

#[test]
fn dates_and_times_are_of_one_kind() {
    let mut builder = Builder::new();
    for moment in [Moment::At(0, Some(0)), Moment::Span(1)] {
        assert_eq!(builder.push(Value::Moment(moment)), Err(Refusal::Doubt));
    }
    builder.push(Value::Moment(Moment::At(5, None))).expect("a time fits");
    assert_eq!(builder.push(Value::Moment(Moment::Day(5))), Err(Refusal::Misfit));
    assert_eq!(builder.push(Value::Moment(Moment::At(5, Some(0)))), Err(Refusal::Doubt));
    assert_eq!(builder.push(Value::Int(5)), Err(Refusal::Misfit));
    assert_eq!(shown(&builder.finish()).len(), 1);
}

#[test]
fn arrow_has_the_same_dates_and_times() {
    let days = [0, 719_162, 3_652_058];
    let column = |unit, numbers: Vec<i64>| Column::new(Data::Moments(unit, numbers.into()), None, 3).expect("there are such");
    let times = days.map(|day| day * DAY + 1).to_vec();
    for column in [column(Unit::Days, days.to_vec()), column(Unit::Micros, times), column(Unit::Clock, vec![0, 1, DAY - 1])] {
        let array = column.to_arrow().expect("Arrow has them");
        assert_eq!(Column::of_arrow(&array).map(|column| shown(&column)), Some(shown(&column)));
    }
    let late = arrow_array::Date32Array::from(vec![Some(0), None, Some(1 << 30)]);
    assert!(Column::of_arrow(&late).is_none());
    let absent = Column::of_arrow(&arrow_array::Array::slice(&late, 0, 2)).expect("they are days");
    assert_eq!(shown(&absent), expected(&[Constant::Moment(Moment::Day(719_162)), Constant::None]));
}

#[test]
fn nesting_ends() {
    let arena = Bump::new();
    let mut value = Value::Int(1);
    for depth in 1..12 {
        value = Value::Tuple(arena.alloc_slice_copy(&[value]));
        let mut builder = Builder::new();
        assert_eq!(builder.push(value).is_ok(), depth <= super::DEPTH, "{depth}");
        assert!(builder.push(Value::Int(1)).is_ok() || depth <= super::DEPTH);
    }
}

#[test]
fn columns_are_checked() {
    let strings = |bytes: &[u8], offsets: Vec<i32>| Strings::new(arrow_buffer::OffsetBuffer::new(offsets.into()), bytes.to_vec().into());
    assert!(strings(b"abc", vec![0, 4]).is_none());
    let cut = strings("ä".as_bytes(), vec![0, 1, 2]).expect("they are bytes");
    assert!(Column::new(Data::Texts(cut.clone()), None, 2).is_none());
    assert!(Column::new(Data::Bytes(cut), None, 2).is_some());
    assert!(Column::new(Data::Ints(vec![1, 2].into()), None, 3).is_none());
    for (unit, number) in [(Unit::Days, -1), (Unit::Days, DAYS), (Unit::Micros, DAYS * DAY)] {
        assert!(Column::new(Data::Moments(unit, vec![number].into()), None, 1).is_none());
    }
}
