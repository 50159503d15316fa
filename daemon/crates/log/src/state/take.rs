//! Applies changes that were checked to the state and its records.

use super::draft::Changes;
use super::{SpaceState, nodes};
use crate::commit::Commit;
use crate::control::DeviceList;
use crate::digest::Element;
use crate::frame::element;
use crate::records::{Item, KnownDevice, Records};
use crate::statement::{NodeOp, NodeStatement, Statement};
use cairn_model::AccountId;

impl<R: Records> SpaceState<R> {
    /// Applies the changes of a commit, then its statements in their order.
    pub(super) fn take(
        &mut self,
        changes: Changes,
        commit: &Commit,
        statements: &[(Statement, [u8; 32])],
    ) -> Result<(), R::Error> {
        if let Some(genesis) = changes.genesis {
            self.genesis = Some(genesis);
        }
        if let Some(members) = changes.members {
            self.members = members;
        }
        self.epoch = changes.epoch.unwrap_or(self.epoch);
        for (account, list) in &changes.lists {
            self.take_list(*account, list)?;
        }
        // All old places go before new ones come: two nodes may swap theirs.
        for node in changes.nodes.keys() {
            let old = self.records.node(*node)?.signed;
            // A name that a node in the trash once had may be another's by now.
            if let Some((old, _)) = old.filter(|(old, _)| nodes::has_place(old)) {
                self.records.set_place(old.parent, &old.name, None)?;
            }
        }
        let bodies = commit.statements.iter();
        for ((part, body), (statement, hash)) in (0..).zip(bodies).zip(statements) {
            let item = Item {
                position: self.tree.size(),
                part,
                element: element(statement).0,
                hash: *hash,
                body,
            };
            match statement {
                Statement::Node(node) => self.take_node(&item, statement, node)?,
                Statement::Control(_) => self.take_control(&item, statement)?,
            }
        }
        Ok(())
    }

    fn take_list(&mut self, account: AccountId, list: &DeviceList) -> Result<(), R::Error> {
        self.records.unlist_devices(account)?;
        for device in &list.devices {
            let known = self.records.device(device.number)?;
            let mut known = known.unwrap_or(KnownDevice {
                account,
                key: device.key,
                is_listed: true,
                own: 0,
                min_seen: 0,
            });
            known.is_listed = true;
            self.records.set_device(device.number, &known)?;
        }
        self.counters.insert(account, list.counter);
        Ok(())
    }

    fn take_control(&mut self, item: &Item<'_>, statement: &Statement) -> Result<(), R::Error> {
        let (_, counts) = element(statement);
        if counts {
            if let Some(old) = self.records.chain(&item.element)? {
                self.digest.remove(&item.element.id, Element::Signed, &old);
            }
            self.digest
                .add(&item.element.id, Element::Signed, &item.hash);
        }
        self.records.put_statement(item, statement)
    }

    fn take_node(
        &mut self,
        item: &Item<'_>,
        statement: &Statement,
        node: &NodeStatement,
    ) -> Result<(), R::Error> {
        let old = self.records.node(node.node)?;
        if let Some((_, old)) = old.signed {
            self.digest.remove(&item.element.id, Element::Signed, &old);
        }
        if let Some((_, old)) = old.entry {
            self.digest.remove(&item.element.id, Element::Server, &old);
        }
        if node.op != NodeOp::Purge {
            self.digest
                .add(&item.element.id, Element::Signed, &item.hash);
            if nodes::has_place(node) {
                let place = Some(node.node);
                self.records.set_place(node.parent, &node.name, place)?;
            }
        }
        self.records.put_statement(item, statement)
    }
}
