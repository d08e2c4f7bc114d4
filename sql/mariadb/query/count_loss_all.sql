-- Adds a loss to every row that somebody holds, and hands it back.
-- Parameters: claimed_by.
-- Index: owed_delivery_claimed; it holds only what is claimed now.
call owed_hand_back_held($1, 0, 1)
