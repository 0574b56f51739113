//! Changes responses between a page and its proxy.

/// Passes the proxy's responses about the order through `change(order)`; the event stream is off.
pub(crate) fn change_responses(change: &str) -> String {
    format!(
        "(() => {{
        const fetched = window.fetch;
        const change = (order) => {{ {change} }};
        window.fetch = async (request, options) => {{
            const url = request.url ?? String(request);
            if (url.includes('/v1/checkout/events')) return new Response('', {{ status: 503 }});
            const answer = await fetched(request, options);
            if (!/\\/v1\\/checkout(\\/attempt)?$/.test(url) || !answer.ok) return answer;
            const body = await answer.json();
            const order = body.order ?? body;
            if (order.id) change(order);
            return new Response(JSON.stringify(body), {{ status: answer.status }});
        }};
        }})();"
    )
}
