-- Things that outlived the membership or the account that they came from.

-- Rules of accounts that have left the team on whose folder they work.
DELETE FROM retention_rules WHERE NOT EXISTS (
    SELECT 1 FROM nodes n JOIN spaces s ON s.row = n.space WHERE n.id = retention_rules.folder AND (
        EXISTS (SELECT 1 FROM accounts a WHERE a.id = retention_rules.account AND a.space = s.row)
        OR EXISTS (SELECT 1 FROM teams t JOIN team_members m ON m.team = t.id
                   WHERE t.space = s.row AND m.account = retention_rules.account)));

-- Invitations of people who have left the team that they invited to.
UPDATE team_invitations SET state = 'withdrawn' WHERE state = 'pending' AND NOT EXISTS (
    SELECT 1 FROM team_members m WHERE m.team = team_invitations.team AND m.account = team_invitations.invited_by);

-- Replies to comments that went with their author's account: they are shown as comments of their own.
UPDATE comments SET parent = NULL WHERE parent IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM comments above WHERE above.id = comments.parent);
