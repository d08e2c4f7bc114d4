-- Hands back every row that somebody holds, but one.
-- Parameters: claimed_by, id of the row to keep (0: none).
-- Index: owed_delivery_claimed; it holds only what is claimed now.
call owed_hand_back_held($1, $2, 0)
