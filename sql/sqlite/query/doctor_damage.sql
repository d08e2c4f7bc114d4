-- Is the file sound? A file that is larger is not read through.
-- Parameters: how large it may be, in bytes.
-- Columns: what is wrong, nothing, 0, 0.
-- Index: none, the whole file is read.
select q.quick_check, '', 0, 0
from (
    select 5 as most from pragma_page_count as c, pragma_page_size as s where c.page_count * s.page_size <= $1
) as small
cross join pragma_quick_check(small.most) as q
where q.quick_check <> 'ok'
