use super::*;

const GARBLED: Fault = Fault::Garbled {};
const DROP: Fault = Fault::Drop {};

fn faults() -> Faults {
    Faults::new(Seed::new(1))
}

fn plan(endpoint: Target, fault: Fault, times: u32) -> Plan {
    Plan {
        endpoint,
        fault,
        times: Some(times),
        share_percent: None,
    }
}

const PRICES: Target = Target::Endpoint(Endpoint::Prices);
const ANY: Target = Target::Word(Word::Any);
const CALLBACK: Target = Target::Word(Word::Callback);

#[test]
fn a_fault_hits_its_endpoint_as_often_as_planned() {
    let mut faults = faults();
    faults.plan(plan(PRICES, GARBLED, 2)).unwrap();
    assert_eq!(faults.take(Some(Endpoint::Invoice)), None);
    assert_eq!(faults.take(Some(Endpoint::Prices)), Some(GARBLED));
    assert_eq!(faults.take(Some(Endpoint::Prices)), Some(GARBLED));
    assert_eq!(faults.take(Some(Endpoint::Prices)), None);
}

#[test]
fn faults_come_in_the_order_in_which_they_were_planned() {
    let mut faults = faults();
    faults.plan(plan(ANY, DROP, 1)).unwrap();
    faults.plan(plan(PRICES, GARBLED, 1)).unwrap();
    assert_eq!(faults.take(Some(Endpoint::Prices)), Some(DROP));
    assert_eq!(faults.take(Some(Endpoint::Prices)), Some(GARBLED));
}

#[test]
fn cleared_faults_never_come() {
    let mut faults = faults();
    faults.plan(plan(ANY, DROP, 5)).unwrap();
    faults.clear();
    assert_eq!(faults.take(Some(Endpoint::Prices)), None);
}

#[test]
fn a_fault_planned_for_no_call_is_no_fault() {
    let mut faults = faults();
    faults.plan(plan(ANY, DROP, 0)).unwrap();
    assert_eq!(faults.take(None), None);
}

#[test]
fn a_share_is_about_that_share_and_the_same_for_the_same_seed() {
    let spoiled = || {
        let mut faults = faults();
        let share = Plan {
            times: None,
            share_percent: Some(25),
            ..plan(ANY, DROP, 0)
        };
        faults.plan(share).unwrap();
        let calls = (0..1_000).map(|_| faults.take(None).is_some());
        calls.collect::<Vec<bool>>()
    };
    let count = spoiled().into_iter().filter(|spoiled| *spoiled).count();
    assert!((200..300).contains(&count), "{count}");
    assert_eq!(spoiled(), spoiled());
}

#[test]
fn callbacks_have_their_own_faults() {
    let mut faults = faults();
    let lost = Fault::Lost {};
    assert!(
        faults
            .plan(plan(PRICES, lost.clone(), 1))
            .unwrap_err()
            .starts_with("The kinds lost")
    );
    assert!(
        faults
            .plan(plan(CALLBACK, DROP, 1))
            .unwrap_err()
            .starts_with("The kinds lost")
    );
    faults.plan(plan(CALLBACK, lost.clone(), 1)).unwrap();
    assert_eq!(faults.take(Some(Endpoint::Prices)), None);
    assert!(!faults.take_early());
    assert_eq!(faults.take_of_callback(), Some(lost));
    assert_eq!(faults.take_of_callback(), None);
}

#[test]
fn a_hundred_plans_are_enough() {
    let mut faults = faults();
    for _ in 0..100 {
        faults.plan(plan(ANY, DROP, 1)).unwrap();
    }
    let refused = faults.plan(plan(ANY, DROP, 1)).unwrap_err();
    assert!(refused.starts_with("A hundred faults"), "{refused}");
}
