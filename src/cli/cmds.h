/* SPDX-License-Identifier: MIT
 *
 * cmds.h - every command, one file each.
 */
#ifndef CLI_CMDS_H
#define CLI_CMDS_H

#include "cli/command.h"

extern const struct command cmd_attempts;
extern const struct command cmd_bench;
extern const struct command cmd_cancel;
extern const struct command cmd_catalogue;
extern const struct command cmd_check;
extern const struct command cmd_deliveries;
extern const struct command cmd_doctor;
extern const struct command cmd_events;
extern const struct command cmd_explain;
extern const struct command cmd_fire;
extern const struct command cmd_help;
extern const struct command cmd_init;
extern const struct command cmd_lanes;
extern const struct command cmd_migrate;
extern const struct command cmd_pause;
extern const struct command cmd_prune;
extern const struct command cmd_publish;
extern const struct command cmd_quiet;
extern const struct command cmd_relay;
extern const struct command cmd_relays;
extern const struct command cmd_replay;
extern const struct command cmd_requeue;
extern const struct command cmd_resume;
extern const struct command cmd_send;
extern const struct command cmd_show;
extern const struct command cmd_status;
extern const struct command cmd_templates;
extern const struct command cmd_ticket;
extern const struct command cmd_endpoint;
extern const struct command cmd_worker;

#endif
