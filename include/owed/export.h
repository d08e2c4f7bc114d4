/* SPDX-License-Identifier: MIT
 *
 * export.h - the words in front of every public declaration.
 */
#ifndef OWED_EXPORT_H
#define OWED_EXPORT_H

#ifdef __cplusplus
#define OWED_BEGIN_DECLS extern "C" {
#define OWED_END_DECLS }
#else
#define OWED_BEGIN_DECLS
#define OWED_END_DECLS
#endif

#if defined(__GNUC__) || defined(__clang__)
#define OWED_API __attribute__((visibility("default")))
#define OWED_MUSTUSE __attribute__((warn_unused_result))
#define OWED_PRINTF(text_, first_) __attribute__((format(printf, text_, first_)))
#else
#define OWED_API
#define OWED_MUSTUSE
#define OWED_PRINTF(text_, first_)
#endif

#endif
