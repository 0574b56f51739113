//! Faults between the proxy and the gateway, with their weights.

use support::SeededRandom;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Prices,
    Create,
    Session,
    Lookup,
    Confirm,
    Other,
}

impl Endpoint {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Prices => "GET /prices",
            Self::Create => "POST /invoice",
            Self::Session => "POST /checkout",
            Self::Lookup => "GET /invoice",
            Self::Confirm => "POST /confirm",
            Self::Other => "another endpoint",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NotSent,
    /// Sent, and lost before it arrived.
    LostBefore,
    /// Done; the response is lost.
    LostAfter,
    /// 429 with this `Retry-After`.
    Limited(Option<i64>),
    /// A 5xx before anything is done.
    Broken(u16),
    /// A 500 after it is done.
    BrokenAfter,
    Unauthorized,
    /// Done; the body of the response is not JSON.
    Garbled,
    Truncated,
    Redirect,
    /// Done, slowly but in time.
    Slow,
    CrashBefore,
    CrashAfter,
    /// A response that arrives minutes later, after newer ones.
    Delayed,
    Stale,
    /// A response about another invoice.
    Foreign,
    /// 404 for an invoice that exists.
    Denied,
    Wrong(Member),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    OtherAddress,
    Missing,
    Junk,
    UnknownStatus,
    OtherAmount,
    OtherCurrency,
    OtherAsset,
    BadChecksum,
    OtherQr,
    OtherPage,
    OtherSession,
}

impl Fault {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Limited(Some(_)) => "429 with Retry-After".into(),
            Self::Limited(None) => "429 without Retry-After".into(),
            Self::Broken(_) => "5xx".into(),
            Self::Wrong(member) => format!("wrong: {member:?}"),
            other => format!("{other:?}"),
        }
    }

    pub(crate) fn all(endpoint: Endpoint, random: &SeededRandom) -> Vec<(u64, Self)> {
        use Fault as T;
        use Member as M;
        let on_the_way = [
            (12, T::NotSent),
            (8, T::LostBefore),
            (8, T::LostAfter),
            (6, T::Limited(Some(random.between(1, 40)))),
            (6, T::Limited(None)),
            (8, T::Broken(random.pick(&[500, 502, 503, 504]))),
            (5, T::BrokenAfter),
            (3, T::Unauthorized),
            (6, T::Garbled),
            (6, T::Truncated),
            (3, T::Redirect),
            (8, T::Slow),
            (2, T::CrashBefore),
            (2, T::CrashAfter),
        ];
        let lookup = [
            (10, T::Delayed),
            (12, T::Stale),
            (8, T::Foreign),
            (4, T::Denied),
            (2, T::Wrong(M::OtherAddress)),
            (6, T::Wrong(M::Missing)),
            (5, T::Wrong(M::Junk)),
            (4, T::Wrong(M::UnknownStatus)),
            (5, T::Wrong(M::OtherAmount)),
            (4, T::Wrong(M::OtherCurrency)),
            (4, T::Wrong(M::OtherAsset)),
        ];
        let create = [
            (3, T::Wrong(M::BadChecksum)),
            (3, T::Wrong(M::OtherQr)),
            (3, T::Wrong(M::OtherAmount)),
            (3, T::Wrong(M::OtherCurrency)),
            (3, T::Wrong(M::OtherAsset)),
            (3, T::Wrong(M::Missing)),
        ];
        let session = [
            (4, T::Wrong(M::OtherPage)),
            (4, T::Wrong(M::OtherSession)),
            (4, T::Wrong(M::Missing)),
        ];
        match endpoint {
            Endpoint::Session => [&on_the_way[..], &session].concat(),
            Endpoint::Lookup => [&on_the_way[..], &lookup].concat(),
            Endpoint::Create => [&on_the_way[..], &create].concat(),
            Endpoint::Prices | Endpoint::Confirm | Endpoint::Other => on_the_way.to_vec(),
        }
    }
}
