/* SPDX-License-Identifier: MIT
 *
 * endpoint.h - webhooks to endpoints that customers name: rows of the store, not lines of a program.
 *
 * A receiver owed.webhooks that is declared with endpoints owes each event to every endpoint that has subscribed
 * to its name, a delivery each. What is sent follows Standard Webhooks: webhook-id (the same on every attempt),
 * webhook-timestamp, webhook-signature.
 */
#ifndef OWED_ENDPOINT_H
#define OWED_ENDPOINT_H

#include <owed/owed.h>
#include <owed/resolve.h>

OWED_BEGIN_DECLS

#define OWED_ENDPOINTS_RECEIVER "owed.webhooks" /* the key of that receiver; there is no other */
#define OWED_ENDPOINT_ID_BYTES 28               /* "ep_", 24 hex digits, and a NUL */
#define OWED_ENDPOINT_SECRET_BYTES 128

/*
 * How they are delivered to: owed_receiver.endpoints points to it. Copied. Start from {0}.
 *
 * No request goes to an address that is not on the public internet (private, loopback, link-local, multicast, shared,
 * reserved, a cloud's metadata service; also where IPv6 wraps it), neither when an endpoint is added nor when a
 * connection is made: all addresses of its host are checked, and the connection goes to these. Redirects are not
 * followed unless redirects says so: then 307 and 308 alone, at the host that the endpoint names, never from https to
 * http, each hop checked as the first, and all within one time limit.
 */
typedef struct owed_endpoint_settings {
    const char *allow;    /* networks that are called all the same, with blanks between them:
                              "10.20.0.0/16 fd00::/8"; a metadata service only by its very address */
    owed_resolve resolve; /* NULL: getaddrinfo */
    void *resolve_state;
    const char
        *tenant_key;       /* the member of an event's scope that names its tenant: an endpoint gets
                               events of its own tenant alone, and one whose scope names none goes to
                               nobody. NULL: there are no tenants, and an endpoint of one gets nothing */
    const char *source;    /* of CloudEvents, a URI reference; NULL: "/" and the app */
    int32_t disable_after; /* dead deliveries in a row; 0: 10; -1: never for that */
    int32_t per_host;      /* requests at once to one host; 0: 20 */
    int32_t redirects;     /* so many in a row are followed, 5 at most; 0: none */
} owed_endpoint_settings;

typedef enum owed_format {
    OWED_FORMAT_ENVELOPE = 0, /* {"data":PAYLOAD,"id":"...","timestamp":"...","type":"shop.Paid"} */
    OWED_FORMAT_RAW,          /* the payload, to the byte */
    OWED_FORMAT_CLOUDEVENTS   /* CloudEvents 1.0, structured, in JSON */
} owed_format;

typedef enum owed_signing {
    OWED_SIGNING_V1 = 0, /* HMAC-SHA256, by a secret that both know */
    OWED_SIGNING_V1A     /* Ed25519: the endpoint knows the public key alone */
} owed_signing;

/* A new endpoint. Start from {0}. */
typedef struct owed_endpoint {
    const char *url; /* http or https; port 80, 443 or from 1024 on; no user, no fragment */
    const char *const *
        events; /* names to a NULL, at least one: "shop.Paid", "shop.*" for all that begin so, "*" */
    const char *name;   /* for people */
    const char *tenant; /* at most 255 bytes */
    owed_format format; /* none of these changes once it is added */
    owed_signing signing;
    const char *filter; /* a JSON object: JSON pointers into the payload, and what must stand at
                           each; an array: any of these. NULL: everything */
    const char *
        secret; /* "whsec_" and base64 of 24 to 64 bytes (V1), "whsk_" and base64 of 32 (V1A); NULL: made */
    int32_t rate; /* requests a second of one relay; 0: any number */
} owed_endpoint;

/*
 * owed_endpoint_add writes one, and looks up its host. ret_secret (may be NULL) is what the customer verifies with, and is
 * not shown again: the secret, or the public key ("whpk_..."). The handle declares the receiver.
 * INVALID: what is wrong with it, an event that the receiver never gets, or where it leads. UNAVAILABLE: its host cannot be looked up. CONFIG: no such
 * receiver is declared. BUSY, STORE.
 */
OWED_API OWED_MUSTUSE owed_status owed_endpoint_add(owed *owed, const owed_endpoint *endpoint,
    char ret_id[OWED_ENDPOINT_ID_BYTES], char ret_secret[OWED_ENDPOINT_SECRET_BYTES],
    owed_error *err);

/*
 * owed_endpoint_rotate gives it a new secret (NULL: one is made). For as long as overlap_us (0: not at all) the one before signs as
 * well, so that a signature of each stands in the header, the new one's first. While that lasts another rotation would end the secret that the customer may still go by: it is
 * refused (INVALID), unless overlap_us is 0, which ends both. NOT_FOUND, INVALID, BUSY, STORE.
 */
OWED_API OWED_MUSTUSE owed_status owed_endpoint_rotate(owed *owed, const char *id,
    const char *secret, int64_t overlap_us, char ret_secret[OWED_ENDPOINT_SECRET_BYTES],
    owed_error *err);

/*
 * A disabled endpoint is owed nothing new, and what it was owed ends, when its turn comes, without a
 * request; what a pause has kept for it ends so at once. One that answers 410 is disabled at once, one whose last disable_after deliveries are dead then;
 * whoever did it fires owed.EndpointDisabled, once. Disabling one that is, and enabling one that is not, is fine. NOT_FOUND.
 */
OWED_API OWED_MUSTUSE owed_status owed_endpoint_disable(
    owed *owed, const char *id, const char *why, owed_error *err);
OWED_API OWED_MUSTUSE owed_status owed_endpoint_enable(owed *owed, const char *id, owed_error *err);

/*
 * A paused endpoint is owed what it wants, as ever; all of it is kept, and nothing sent but a ping, until until_us
 * (0: until it is resumed), whatever give_up_after says. Resumed, it gets what waited, at once. Pausing one that is, and resuming one that is not, is fine. NOT_FOUND, INVALID, BUSY, STORE.
 */
OWED_API OWED_MUSTUSE owed_status owed_endpoint_pause(
    owed *owed, const char *id, int64_t until_us, const char *why, owed_error *err);
OWED_API OWED_MUSTUSE owed_status owed_endpoint_resume(owed *owed, const char *id, owed_error *err);

/* owed_endpoint_remove forgets it; what it was owed ends as if it were disabled, and the log of its attempts stays. NOT_FOUND. */
OWED_API OWED_MUSTUSE owed_status owed_endpoint_remove(owed *owed, const char *id, owed_error *err);

/* An endpoint as it can be shown to anybody: its secret is not told (a public key is), nor what follows the path of its URL. */
typedef struct owed_endpoint_entry {
    const char *id;
    const char *name; /* these are "" where there is none */
    const char *url;
    const char *tenant;
    const char *const *events; /* to a NULL */
    const char *filter;
    owed_format format;
    owed_signing signing;
    int32_t rate;
    int64_t dead_in_row; /* deliveries */
    int64_t
        previous_until_us; /* the secret before this one signs as well; a moment that is over: it does not */
    int64_t disabled_at_us; /* 0: it is not */
    const char *disabled_reason;
    int64_t paused_at_us;    /* 0: it is not */
    int64_t paused_until_us; /* 0: until it is resumed */
    const char *paused_reason;
    int64_t created_at_us;
    int64_t updated_at_us;
    const char *public_key; /* "whpk_...", of one that signs by a pair of keys; else "" */
} owed_endpoint_entry;

typedef struct owed_endpoint_list {
    size_t count;
    const owed_endpoint_entry *endpoints; /* by id */
} owed_endpoint_list;

/*
 * owed_endpoints reads those with an id behind after_id (NULL: from the first), at most limit (1 to 1000), of a tenant (NULL: any);
 * the last one's id is where the next page begins. owed_endpoint_find reads one. Free the list with owed_endpoint_list_free.
 * INVALID, NOT_FOUND, STORE.
 */
OWED_API OWED_MUSTUSE owed_status owed_endpoints(owed *owed, const char *after_id, int32_t limit,
    const char *tenant, owed_endpoint_list **ret_list, owed_error *err);
OWED_API OWED_MUSTUSE owed_status owed_endpoint_find(
    owed *owed, const char *id, owed_endpoint_list **ret_list, owed_error *err);
OWED_API void owed_endpoint_list_free(owed_endpoint_list *list);

/*
 * owed_endpoint_test owes the endpoint one event owed.Ping, whatever it has subscribed to, and delivers it at once. It
 * disables no endpoint but one that answers 410.
 * *ret_delivery_id (may be NULL) is the delivery, whose attempts say what came of it; *ret_status (may be
 * NULL) is its status, as of owed_deliver_one. NOT_FOUND.
 */
OWED_API OWED_MUSTUSE owed_status owed_endpoint_test(
    owed *owed, const char *id, int64_t *ret_delivery_id, const char **ret_status, owed_error *err);

/* What came with a request, for a receiver of webhooks that is written in C. Start from {0}. */
typedef struct owed_webhook {
    const char *id;        /* webhook-id */
    const char *timestamp; /* webhook-timestamp */
    const char *signature; /* webhook-signature: entries with blanks between them */
    const void *body;      /* the bytes as they came */
    size_t body_len;
} owed_webhook;

/*
 * owed_webhook_verify tells whether one of the signatures is right, and the timestamp within tolerance_us of
 * now_us; 0: five minutes, the system's clock. secrets is a list to a NULL of "whsec_..." and "whpk_...", while one is replaced both.
 * Signatures are compared in a time that says nothing about them. A webhook-id that was seen before is a repeat: keep those of
 * the tolerance. INVALID: it is not right, and why. CONFIG: a secret that is none.
 */
OWED_API OWED_MUSTUSE owed_status owed_webhook_verify(const owed_webhook *webhook,
    const char *const *secrets, int64_t tolerance_us, int64_t now_us, owed_error *err);

OWED_END_DECLS

#endif
