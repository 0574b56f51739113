//! What may go wrong between the proxy and the service, and how often while the weather is bad.

use crate::random::Chance;

/// An endpoint of the service, as far as checkouts use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Prices,
    Create,
    Session,
    Lookup,
    Confirm,
    Other,
}

/// One thing that goes wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// No connection.
    NotSent,
    /// Sent, lost before it arrived.
    LostBefore,
    /// Done, and the answer was lost.
    LostAfter,
    /// 429 with this `Retry-After`.
    Limited(Option<i64>),
    /// A 5xx before anything was done.
    Broken(u16),
    /// A 500 after it was done.
    BrokenAfter,
    /// 401.
    Unwelcome,
    /// Done, and the answer's body is no JSON.
    Garbled,
    /// Done, and the answer's body ends too soon.
    Cut,
    /// A redirect.
    Redirect,
    /// Done, late but in time.
    Slow,
    /// The proxy dies before it arrives.
    CrashBefore,
    /// The proxy dies before it hears the answer.
    CrashAfter,
    /// An answer of now that is heard minutes later, after newer ones.
    Overtaken,
    /// An answer from a cache.
    Stale,
    /// An answer about another invoice.
    Foreign,
    /// 404 for an invoice that exists.
    Denied,
    /// A member of the answer is changed.
    Wrong(Member),
}

/// What is wrong in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    OtherAddress,
    Missing,
    Empty,
    Junk,
    Negative,
    Exponent,
    Number,
    UnknownStatus,
    OtherAmount,
    OtherCurrency,
    OtherAsset,
    Twice,
    BadChecksum,
    OtherQr,
    BadLifetime,
    OtherPage,
    OtherSession,
}

impl Trouble {
    /// Its name in the tally.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Limited(Some(_)) => "429 with Retry-After".into(),
            Self::Limited(None) => "429 without Retry-After".into(),
            Self::Broken(_) => "5xx".into(),
            Self::Wrong(member) => format!("wrong: {member:?}"),
            other => format!("{other:?}"),
        }
    }

    /// What goes wrong with a call of this endpoint, in one of four cases.
    pub(crate) fn draw(endpoint: Endpoint, chance: &Chance) -> Option<Self> {
        let happens = chance.percent(25);
        happens.then(|| chance.weigh(&Self::all(endpoint, chance)))
    }

    /// Everything that can go wrong with calls of this endpoint, with its weight.
    pub(crate) fn all(endpoint: Endpoint, chance: &Chance) -> Vec<(u64, Self)> {
        use Member as M;
        use Trouble as T;
        let on_the_way = [
            (12, T::NotSent),
            (8, T::LostBefore),
            (8, T::LostAfter),
            (6, T::Limited(Some(chance.between(1, 40)))),
            (6, T::Limited(None)),
            (8, T::Broken(chance.pick(&[500, 502, 503, 504]))),
            (5, T::BrokenAfter),
            (3, T::Unwelcome),
            (6, T::Garbled),
            (6, T::Cut),
            (3, T::Redirect),
            (8, T::Slow),
            (2, T::CrashBefore),
            (2, T::CrashAfter),
        ];
        let lookup = [
            (10, T::Overtaken),
            (12, T::Stale),
            (8, T::Foreign),
            (4, T::Denied),
            (2, T::Wrong(M::OtherAddress)),
            (6, T::Wrong(M::Missing)),
            (4, T::Wrong(M::Empty)),
            (5, T::Wrong(M::Junk)),
            (3, T::Wrong(M::Negative)),
            (3, T::Wrong(M::Exponent)),
            (4, T::Wrong(M::Number)),
            (4, T::Wrong(M::UnknownStatus)),
            (5, T::Wrong(M::OtherAmount)),
            (4, T::Wrong(M::OtherCurrency)),
            (4, T::Wrong(M::OtherAsset)),
            (3, T::Wrong(M::Twice)),
        ];
        let create = [
            (3, T::Wrong(M::BadChecksum)),
            (3, T::Wrong(M::OtherQr)),
            (3, T::Wrong(M::OtherAmount)),
            (3, T::Wrong(M::OtherCurrency)),
            (3, T::Wrong(M::OtherAsset)),
            (3, T::Wrong(M::BadLifetime)),
            (3, T::Wrong(M::Missing)),
            (3, T::Wrong(M::Number)),
        ];
        let session = [
            (4, T::Wrong(M::OtherPage)),
            (4, T::Wrong(M::OtherSession)),
            (4, T::Wrong(M::Missing)),
            (3, T::Wrong(M::Number)),
        ];
        match endpoint {
            Endpoint::Session => [&on_the_way[..], &session].concat(),
            Endpoint::Lookup => [&on_the_way[..], &lookup].concat(),
            Endpoint::Create => [&on_the_way[..], &create].concat(),
            Endpoint::Prices | Endpoint::Confirm | Endpoint::Other => on_the_way.to_vec(),
        }
    }
}
