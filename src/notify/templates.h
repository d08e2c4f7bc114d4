/* SPDX-License-Identifier: MIT
 *
 * templates.h - the bounds of a set of templates.
 */
#ifndef NOTIFY_TEMPLATES_H
#define NOTIFY_TEMPLATES_H

#define LIMIT_TEMPLATES 4096

#endif
