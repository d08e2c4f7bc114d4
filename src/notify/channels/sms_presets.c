/* SPDX-License-Identifier: MIT
 *
 * sms_presets.c - what the known gateways of text messages are sent, and what they answer, as their manuals have it.
 *
 * user, password-file and token-file hold what each calls: Twilio account SID and auth token; Vonage API key and secret;
 * MessageBird an access key (token); Plivo auth id and auth token; Telnyx an API key (token); Sinch service plan (user)
 * and API token (token).
 */
#include "notify/channels/sms.h"

const struct sms_preset sms_presets[] = {
    {"twilio",
        {.says =
                {
                    [GATEWAY_URL] =
                        "https://api.twilio.com/2010-04-01/Accounts/{user}/Messages.json",
                    [GATEWAY_FORMAT] = "form",
                    [GATEWAY_BODY] = "To={to}&From={from}&Body={text}",
                    [GATEWAY_AUTH] = "basic",
                    [GATEWAY_REFERENCE] = "/sid",
                    [GATEWAY_CODE] = "/code",
                    [GATEWAY_REASON] = "/message",
                    [GATEWAY_GONE] = "21211, 21610, 21614", // no such number; said STOP; no mobile
                    [GATEWAY_WAIT] = "20429",
                }}},
    {"vonage",
        {.says =
                {
                    [GATEWAY_URL] = "https://rest.nexmo.com/sms/json",
                    [GATEWAY_FORMAT] = "form",
                    [GATEWAY_BODY] = "api_key={user}&api_secret={password}&to={digits}&from={from}"
                                     "&type={alphabet}&text={text}&client-ref={id}",
                    [GATEWAY_REFERENCE] = "/messages/0/message-id",
                    [GATEWAY_CODE] =
                        "/messages/0/status", // the status of HTTP is 200, whatever it is
                    [GATEWAY_REASON] = "/messages/0/error-text",
                    [GATEWAY_SUCCESS] = "0",
                    [GATEWAY_WAIT] = "1, 10",
                    [GATEWAY_GONE] = "7, 33",  // barred; no longer in use
                    [GATEWAY_FAILED] = "5, 9", // theirs; out of credit, which is soon mended
                }}},
    {"messagebird",
        {.says =
                {
                    [GATEWAY_URL] = "https://rest.messagebird.com/messages",
                    [GATEWAY_HEADERS] = "authorization: AccessKey {token}",
                    [GATEWAY_BODY] = "{\"recipients\": [\"{digits}\"], \"originator\": \"{from}\", "
                                     "\"datacoding\": \"auto\", \"reference\": \"{id}\", "
                                     "\"body\": \"{text}\"}",
                    [GATEWAY_REFERENCE] = "/id",
                    [GATEWAY_CODE] = "/errors/0/code",
                    [GATEWAY_REASON] = "/errors/0/description",
                    [GATEWAY_FAILED] = "25, 99", // out of credit; theirs
                }}},
    {"plivo",
        {.says =
                {
                    [GATEWAY_URL] = "https://api.plivo.com/v1/Account/{user}/Message/",
                    [GATEWAY_BODY] =
                        "{\"src\": \"{from}\", \"dst\": \"{digits}\", \"text\": \"{text}\"}",
                    [GATEWAY_AUTH] = "basic",
                    [GATEWAY_REFERENCE] = "/message_uuid/0",
                    [GATEWAY_REASON] = "/error",
                }}},
    {"telnyx",
        {.says =
                {
                    [GATEWAY_URL] = "https://api.telnyx.com/v2/messages",
                    [GATEWAY_BODY] =
                        "{\"from\": \"{from}\", \"to\": \"{to}\", \"text\": \"{text}\"}",
                    [GATEWAY_AUTH] = "bearer",
                    [GATEWAY_REFERENCE] = "/data/id",
                    [GATEWAY_CODE] = "/errors/0/code",
                    [GATEWAY_REASON] = "/errors/0/detail",
                    [GATEWAY_GONE] = "40300, 40310", // said STOP; no such number
                }}},
    {"sinch",
        {.says =
                {
                    [GATEWAY_URL] = "https://eu.sms.api.sinch.com/xms/v1/{user}/batches",
                    [GATEWAY_BODY] = "{\"from\": \"{from}\", \"to\": [\"{to}\"], "
                                     "\"client_reference\": \"{id}\", \"body\": \"{text}\"}",
                    [GATEWAY_AUTH] = "bearer",
                    [GATEWAY_REFERENCE] = "/id",
                    [GATEWAY_CODE] = "/code",
                    [GATEWAY_REASON] = "/text",
                }}},
    {NULL, {.says = {NULL}}},
};
